package debugadapter

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/session"
)

var started = map[string]any{"clientName": "test\x1b[2J", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path"}

// TestLaunch debugs a program as an editor does, from its launch to its end.
func TestLaunch(t *testing.T) {
	fake, d := newFake()
	run := make(chan struct{})
	e := connect(t, serverOf(fake, run))
	e.expect("threads", nil, "launch a program or attach to a session first")
	if body, failed := e.ask("initialize", started); failed != "" || !strings.Contains(string(body), `"supportsConfigurationDoneRequest":true`) {
		t.Errorf("%s %s", body, failed)
	}
	e.expect("launch", map[string]any{"program": 5},
		"the arguments cannot be read: json: cannot unmarshal number into Go struct field Launch.program of type string")
	e.expect("launch", map[string]any{}, `"program" is missing: the file to run`)
	e.expect("launch", map[string]any{"program": "/nosuch.go"}, "open /nosuch.go: no such file or directory")
	e.expect("launch", map[string]any{"program": "/w/main.go", "ranks": 2}, "")
	e.expectEvent("initialized")
	e.expect("attach", map[string]any{}, "this client uses a session already: a connection is for one")
	file := map[string]any{"path": "/w/main.go"}
	e.expect("setBreakpoints", map[string]any{"source": file, "breakpoints": []any{map[string]any{"line": 6}, map[string]any{"line": 200}}},
		`{"breakpoints":[{"id":1,"verified":true,"source":{"path":"/w/main.go"},"line":7},{"id":2,"verified":false,"message":"there is no such line","source":{"path":"/w/main.go"},"line":200}]}`)
	if got := d.done(); got != "break 0/w/main.go [6 200]" {
		t.Errorf("the debugger was asked: %s", got)
	}
	e.expect("setBreakpoints", map[string]any{"source": map[string]any{"sourceReference": 1}, "lines": []int{1}},
		`{"breakpoints":[{"id":3,"verified":true,"source":{"sourceReference":1},"line":2}]}`)
	e.expect("setExceptionBreakpoints", map[string]any{"filters": []string{}}, "{}")
	e.expect("configurationDone", nil, "")
	e.expectEvent(`output {"category":"stdout","output":"[0,1] hello\n"}`)
	changed := []session.Breakpoint{{Source: session.BreakpointSource{File: "/w/main.go"}, Asked: 200, Line: 200, Verified: true}, {Asked: 1}}
	fake.Event(session.DebugEvent{Changed: &changed})
	e.expectEvent(`breakpoint {"reason":"changed","breakpoint":{"id":2,"verified":true,"line":200}}`)

	fake.Event(session.DebugEvent{Stopped: stop(1)})
	e.expectEvent(`stopped {"reason":"breakpoint","threadId":1,"allThreadsStopped":true}`)
	fake.Event(session.DebugEvent{Stopped: stop(1)}) // the client knows
	e.expect("threads", nil, `{"threads":[{"id":1,"name":"rank 0"},{"id":2,"name":"rank 1"}]}`)
	e.expect("stackTrace", map[string]any{"threadId": 3}, "threadId 3: threads are 1 to 2")
	e.expect("stackTrace", map[string]any{"threadId": 2}, `{"stackFrames":[`+
		`{"id":1,"name":"f","source":{"name":"cell[1]","sourceReference":1},"line":2,"column":3},`+
		`{"id":2,"name":"/w/main.go","source":{"name":"main.go","path":"/w/main.go"},"line":7,"column":1}],"totalFrames":2}`)
	e.expect("stackTrace", map[string]any{"threadId": 2, "startFrame": 1, "levels": 5}, `{"stackFrames":[`+
		`{"id":3,"name":"/w/main.go","source":{"name":"main.go","path":"/w/main.go"},"line":7,"column":1}],"totalFrames":2}`)
	e.expect("scopes", map[string]any{"frameId": 2}, `{"scopes":[{"name":"Locals","presentationHint":"locals","variablesReference":1,"expensive":false},`+
		`{"name":"Session","variablesReference":2,"expensive":false},{"name":"Tensors","variablesReference":3,"expensive":false}]}`)
	e.expect("variables", map[string]any{"variablesReference": 1},
		`{"variables":[{"name":"x","value":"11","type":"int","evaluateName":"x","variablesReference":0}]}`)
	e.expect("variables", map[string]any{"variablesReference": 3},
		`{"variables":[{"name":"t","value":"f32[2, 3] on cpu …","type":"*symm.Tensor","evaluateName":"t","variablesReference":4}]}`)
	e.expect("variables", map[string]any{"variablesReference": 4}, `{"variables":[{"name":"dtype","value":"f32","variablesReference":0},`+
		`{"name":"shape","value":"[2, 3]","variablesReference":0},{"name":"device","value":"cpu","variablesReference":0},{"name":"memory","value":"ordinary","variablesReference":0},`+
		`{"name":"bytes","value":"24","variablesReference":0},{"name":"values","value":"","type":"f32[2, 3]","variablesReference":5}]}`)
	e.expect("variables", map[string]any{"variablesReference": 5, "start": 1, "count": 9},
		`{"variables":[{"name":"[1]","value":"4 5 6","type":"f32[3]","variablesReference":7}]}`)
	d.done()
	e.expect("evaluate", map[string]any{"expression": "x+1", "frameId": 2}, `{"result":"[0] 1\n[1] 2","variablesReference":0}`)
	e.expect("evaluate", map[string]any{"expression": "bad", "frameId": 2}, "undefined: bad (define it)")
	e.expect("evaluate", map[string]any{"expression": " "}, "an expression of Go is expected")
	for _, command := range []string{"next", "stepIn", "stepOut", "pause"} {
		e.expect(command, map[string]any{"threadId": 1}, "")
	}
	e.expect("continue", map[string]any{"threadId": 1}, `{"allThreadsContinued":true}`)
	if got := d.done(); got != "evaluate [1] 1 x+1; evaluate [1] 1 bad; over; in; out; pause; continue" {
		t.Errorf("the debugger was asked: %s", got)
	}
	fake.Event(session.DebugEvent{Continued: 1})
	e.expectEvent(`continued {"threadId":1,"allThreadsContinued":true}`)
	e.expect("scopes", map[string]any{"frameId": 2}, "frameId 2 is not valid any more: the ranks have gone on since")
	e.expect("stackTrace", map[string]any{"threadId": 1}, "no rank is stopped")
	e.expect("restart", nil, `the request "restart" is not supported`)
	e.expect("nosuch", nil, `the request "nosuch" is not supported`)
	close(run)
	e.expectEvent(`exited {"exitCode":3}`)
	e.expectEvent(`terminated {}`)
	e.expect("disconnect", nil, "")
	if err := <-e.served; err != nil {
		t.Error(err)
	}
	if got := d.done(); got != "close" {
		t.Errorf("the debugger was asked: %s", got)
	}
}

// TestRanksThatDoNotStand shows them by what they do, and tells the client of a stop that is not
// complete after a while.
func TestRanksThatDoNotStand(t *testing.T) {
	fake, _ := newFake()
	e := connect(t, serverOf(fake, nil))
	e.expect("attach", nil, "")
	e.expectEvent("initialized")
	s := stop(4)
	s.Complete, s.Reason = false, session.Paused
	s.Ranks[0] = session.RankStop{Rank: 0, State: session.Waits, Doing: "waits in barrier at cell[2]:4 for rank 1"}
	fake.Event(session.DebugEvent{Stopped: s})
	e.expectEvent(`stopped {"reason":"pause","threadId":2,"text":"rank 0: waits in barrier at cell[2]:4 for rank 1"}`)
	done := *s
	done.Complete = true
	fake.Event(session.DebugEvent{Stopped: &done})
	e.expectEvent(`stopped {"reason":"pause","threadId":2,"preserveFocusHint":true,"text":"rank 0: waits in barrier at cell[2]:4 for rank 1","allThreadsStopped":true}`)
	e.expect("threads", nil, `{"threads":[{"id":1,"name":"rank 0 (waits in barrier at cell[2]:4 for rank 1)"},{"id":2,"name":"rank 1"}]}`)
	e.expect("stackTrace", map[string]any{"threadId": 1},
		`{"stackFrames":[{"id":1,"name":"waits in barrier at cell[2]:4 for rank 1","line":0,"column":0,"presentationHint":"label"}],"totalFrames":1}`)
	e.expect("evaluate", map[string]any{"expression": "x", "frameId": 1}, "this rank is not stopped")
}

// TestStopOnEntry stops before the first statement, once.
func TestStopOnEntry(t *testing.T) {
	fake, d := newFake()
	e := connect(t, serverOf(fake, nil))
	e.expect("launch", map[string]any{"program": "/w/main.go", "stopOnEntry": true}, "")
	e.expect("configurationDone", nil, "")
	if got := d.done(); got != "break 0 [1]" {
		t.Errorf("the debugger was asked: %s", got)
	}
	e.expectEvent("initialized")
	e.expectEvent(`output {"category":"stdout","output":"[0,1] hello\n"}`)
	fake.Event(session.DebugEvent{Stopped: stop(1)})
	e.expectEvent(`stopped {"reason":"entry","threadId":1,"allThreadsStopped":true}`)
	for d.done() != "break 0 []" {
		time.Sleep(time.Millisecond)
	}
	e.expect("terminate", nil, "")
	e.expectEvent(`exited {"exitCode":1}`)
}

// TestAttached uses a session that others have open.
func TestAttached(t *testing.T) {
	fake, d := newFake()
	fake.Cells = []session.Cell{{ID: 1, Source: "x := 1"}, {ID: 2, Name: "dir/a.go", Line: 3, Source: "y := 2"},
		{ID: 3, Name: "dir/a.go", Line: 9, Source: "z := 3"}}
	fake.Runs = "cell[4]"
	e := connect(t, serverOf(fake, nil))
	e.expect("initialize", map[string]any{"linesStartAt1": false, "pathFormat": "path"}, "lines that start at 0 are not supported: set linesStartAt1")
	e.ask("initialize", started)
	e.expect("attach", nil, "")
	e.expectEvent("initialized")
	e.expect("setBreakpoints", map[string]any{"source": map[string]any{"path": "/home/dir/a.go"}, "lines": []int{4}},
		`{"breakpoints":[{"id":1,"verified":true,"source":{"path":"/home/dir/a.go"},"line":5}]}`)
	if got := d.done(); got != "break 0dir/a.go [4]" {
		t.Errorf("the debugger was asked: %s", got)
	}
	e.expect("loadedSources", nil, `{"sources":[{"name":"cell[1]","sourceReference":1},{"name":"a.go","path":"/home/dir/a.go"}]}`)
	e.expect("source", map[string]any{"sourceReference": 2}, `{"content":"\n\ny := 2","mimeType":"text/x-go"}`)
	e.expect("source", map[string]any{"sourceReference": 9}, "there is no such source in this session")
	fake.OnEval = func(cell session.Cell) session.Reply {
		return session.Reply{Values: []session.Value{{Ranks: []int{0, 1}, Text: cell.By}}}
	}
	e.expect("evaluate", map[string]any{"expression": "x", "context": "repl"}, `{"result":"[0,1] test[2J (dap)","variablesReference":0}`)
	e.expect("evaluate", map[string]any{"expression": "x", "context": "hover"}, `{"result":"[0,1] ","variablesReference":0}`)
	if n := len(fake.Cells); fake.Cells[n-2].Silent || !fake.Cells[n-1].Silent {
		t.Errorf("the cells are %+v", fake.Cells[n-2:])
	}
	fake.Infos[1].State = "running"
	e.expect("evaluate", map[string]any{"expression": "x"}, "a cell runs: the elements of tensors can be read when it is done")
	e.expect("disconnect", map[string]any{"terminateDebuggee": true}, "")
	<-e.served
	if fake.Interrupts != 1 || d.done() != "close" {
		t.Errorf("%d interrupts", fake.Interrupts)
	}
}

// TestToken holds that a client without the token gets nothing.
func TestToken(t *testing.T) {
	fake, _ := newFake()
	s := serverOf(fake, nil)
	s.Token = "secret"
	e := connect(t, s)
	const wrong = `the token is wrong: give the one of SYMMREPL_TOKEN as "token"`
	e.expect("attach", nil, wrong)
	e.expect("launch", map[string]any{"program": "/w/main.go", "token": "secre"}, wrong)
	e.expect("evaluate", map[string]any{"expression": "x"}, "launch a program or attach to a session first")
	e.expect("attach", map[string]any{"token": "secret"}, "")
}

// TestListen serves several editors, and lets go of one that does not read.
func TestListen(t *testing.T) {
	fake, d := newFake()
	s := serverOf(fake, nil)
	if err := s.ListenPort(t.Context(), "0.0.0.0:0", nil); err == nil || !strings.Contains(err.Error(), "can be reached from other machines") {
		t.Errorf("0.0.0.0: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over, at := make(chan error, 1), make(chan net.Addr, 1)
	go func() { over <- s.ListenPort(ctx, "127.0.0.1:0", func(a net.Addr) { at <- a }) }()
	conn, err := net.Dial("tcp", (<-at).String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := dap.WriteProtocolMessage(conn,
		&dap.AttachRequest{Request: dap.Request{ProtocolMessage: dap.ProtocolMessage{Seq: 1, Type: "request"}, Command: "attach"}}); err != nil {
		t.Fatal(err)
	}
	var first [16]byte
	if _, err := io.ReadFull(conn, first[:]); err != nil || string(first[:]) != "Content-Length: " {
		t.Fatalf("%q %v", first, err)
	}
	cancel()
	if err := <-over; err != nil {
		t.Error(err)
	}
	for d.done() != "close" {
		time.Sleep(time.Millisecond)
	}
}

// TestTooLong ends the connection of a client whose message has no end.
func TestTooLong(t *testing.T) {
	fake, _ := newFake()
	for _, message := range []string{"Content-Length: 99999999\r\n\r\n", "x", "Content-Length: -1\r\n\r\n"} {
		r := io.MultiReader(strings.NewReader(message), endless{})
		if err := serverOf(fake, nil).Serve(t.Context(), r, io.Discard); err == nil {
			t.Errorf("%q: there is no error", message)
		}
	}
}

// endless has no end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// FuzzServe sends an editor's input of any form.
func FuzzServe(f *testing.F) {
	message := func(content string) string {
		var b strings.Builder
		dap.WriteBaseMessage(&b, []byte(content))
		return b.String()
	}
	attach := message(`{"seq":1,"type":"request","command":"attach","arguments":{}}`)
	f.Add(attach + message(`{"seq":2,"type":"request","command":"variables","arguments":{"variablesReference":-1,"start":-5,"count":-1}}`))
	f.Add(attach + message(`{"seq":2,"type":"request","command":"stackTrace","arguments":{"threadId":1,"startFrame":-1,"levels":9223372036854775807}}`))
	f.Add(attach + message(`{"seq":2,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"\u0000"},"lines":[-1]}}`))
	f.Add(attach + message(`{"seq":2,"type":"request","command":"scopes","arguments":{"frameId":1}}`) +
		message(`{"seq":2,"type":"request","command":"evaluate","arguments":{"expression":"{"}}`))
	f.Add(attach + attach + message(`{"type":"request"}`) + message(`[]`) + message(`{"type":"response","command":"next"}`))
	f.Add(message(`{"seq":1,"type":"request","command":"launch","arguments":{"program":"a.go"}}`) + message(`{"type":"request","command":"disconnect"}`))
	f.Add("Content-Length: 5\r\n\r\n{}")
	f.Fuzz(func(t *testing.T, input string) {
		fake, _ := newFake()
		s := serverOf(fake, nil)
		served := make(chan struct{})
		go func() {
			defer close(served)
			s.Serve(t.Context(), strings.NewReader(input), io.Discard)
		}()
		<-served
	})
}
