package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"
)

// dapEditor is a client of symmrepl dap.
type dapEditor struct {
	t      *testing.T
	out    io.Writer
	in     chan dap.Message
	seq    int
	events []dap.EventMessage // that came while the editor waited for a response
}

// newEditor returns an editor at the end of a connection.
func newEditor(t *testing.T, in io.Reader, out io.Writer) *dapEditor {
	e := &dapEditor{t: t, out: out, in: make(chan dap.Message)}
	go func() {
		defer close(e.in)
		for r := bufio.NewReader(in); ; {
			m, err := dap.ReadProtocolMessage(r)
			if err != nil {
				return
			}
			e.in <- m
		}
	}()
	return e
}

// dap starts symmrepl dap over standard input and output.
func (h home) dap(args ...string) *dapEditor {
	h.t.Helper()
	cmd := h.command(append([]string{"dap"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return newEditor(h.t, out, in)
}

// receive returns the next message.
func (e *dapEditor) receive() dap.Message {
	e.t.Helper()
	select {
	case m, ok := <-e.in:
		if !ok {
			e.t.Fatal("the connection has ended")
		}
		return m
	case <-time.After(patience()):
		e.t.Fatal("no message comes")
	}
	return nil
}

// ask sends a request and returns its response.
func (e *dapEditor) ask(command string, arguments any) dap.Message {
	e.t.Helper()
	e.seq++
	content, err := json.Marshal(map[string]any{"seq": e.seq, "type": "request", "command": command, "arguments": arguments})
	if err == nil {
		err = dap.WriteBaseMessage(e.out, content)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	for {
		switch m := e.receive().(type) {
		case dap.EventMessage:
			e.events = append(e.events, m)
		case dap.ResponseMessage:
			if r := m.GetResponse(); r.RequestSeq != e.seq || r.Command != command {
				e.t.Fatalf("the response to %s is %+v", command, m)
			}
			return m
		}
	}
}

// request sends a request that must succeed, and returns its response.
func request[R dap.ResponseMessage](e *dapEditor, command string, arguments any) R {
	e.t.Helper()
	m := e.ask(command, arguments)
	r, ok := m.(R)
	if !ok {
		e.t.Fatalf("%s: %+v", command, m.(dap.ResponseMessage).GetResponse())
	}
	return r
}

// await returns the next event of a type, and passes over others.
func await[E dap.EventMessage](e *dapEditor) E {
	e.t.Helper()
	for {
		var m dap.Message
		if len(e.events) > 0 {
			m, e.events = e.events[0], e.events[1:]
		} else {
			m = e.receive()
		}
		if got, ok := m.(E); ok {
			return got
		}
	}
}

// rows returns rows of variables as "name=value".
func (e *dapEditor) rows(reference int) string {
	e.t.Helper()
	var rows []string
	for _, v := range request[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": reference}).Body.Variables {
		rows = append(rows, v.Name+"="+v.Value)
	}
	return strings.Join(rows, " ")
}

// scopes returns the variables in the scopes of the innermost frame of a thread, by the name of the
// scope, and says which line the frame stands on.
func (e *dapEditor) scopes(thread int) (scopes map[string]int, frame dap.StackFrame) {
	e.t.Helper()
	frame = request[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": thread}).Body.StackFrames[0]
	scopes = map[string]int{}
	for _, s := range request[*dap.ScopesResponse](e, "scopes", map[string]any{"frameId": frame.Id}).Body.Scopes {
		scopes[s.Name] = s.VariablesReference
	}
	return scopes, frame
}

const debugged = `t := symm.Empty(symm.F32, 4).Fill(symm.Rank())
// %%
func double(n int) int {
	twice := 2 * n
	return twice
}
// %%
sum := 0
for i := range 2 {
	sum += double(i + symm.Rank())
}
fmt.Println("sum", sum)
`

// TestDAPLaunch debugs a program of two ranks from its launch to its end.
func TestDAPLaunch(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	file := h.script("sum.go", debugged)
	e := h.dap()
	request[*dap.InitializeResponse](e, "initialize",
		map[string]any{"adapterID": "symmrepl", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path"})
	request[*dap.LaunchResponse](e, "launch", map[string]any{"program": file, "ranks": 2, "device": device()})
	await[*dap.InitializedEvent](e)
	request[*dap.SetBreakpointsResponse](e, "setBreakpoints",
		map[string]any{"source": map[string]any{"path": file}, "breakpoints": []any{map[string]any{"line": 5}}})
	request[*dap.ConfigurationDoneResponse](e, "configurationDone", nil)
	if s := await[*dap.StoppedEvent](e); s.Body.Reason != "breakpoint" || !s.Body.AllThreadsStopped {
		t.Errorf("the ranks stop with %+v", s.Body)
	}
	if threads := request[*dap.ThreadsResponse](e, "threads", nil).Body.Threads; len(threads) != 2 || threads[1].Name != "rank 1" {
		t.Errorf("the threads are %+v", threads)
	}
	scopes, frame := e.scopes(2)
	if frame.Line != 5 || frame.Name != "double" || frame.Source.Path != file {
		t.Errorf("rank 1 stands at %+v", frame)
	}
	if got := e.rows(scopes["Locals"]); got != "twice=2 n=1" {
		t.Errorf("the locals are %s", got)
	}
	if got := e.rows(scopes["Tensors"]); !strings.HasPrefix(got, "t=f32[4]") {
		t.Errorf("the tensors are %s", got)
	}
	if got := request[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "twice + 1", "frameId": frame.Id}).Body.Result; got != "[1] 3" {
		t.Errorf("the value is %s", got)
	}
	request[*dap.StepOutResponse](e, "stepOut", map[string]any{"threadId": 1})
	if s := await[*dap.StoppedEvent](e); s.Body.Reason != "step" {
		t.Errorf("the ranks stop with %+v", s.Body)
	}
	if _, frame := e.scopes(1); frame.Line < 9 || frame.Line > 10 {
		t.Errorf("rank 0 stands at %+v", frame)
	}
	request[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{"source": map[string]any{"path": file}, "breakpoints": []any{}})
	request[*dap.ContinueResponse](e, "continue", map[string]any{"threadId": 1})
	output := ""
	for !strings.Contains(output, "[0] sum 2\n[1] sum 6\n") {
		output += await[*dap.OutputEvent](e).Body.Output
	}
	if x := await[*dap.ExitedEvent](e); x.Body.ExitCode != 0 {
		t.Errorf("the exit status is %d", x.Body.ExitCode)
	}
	await[*dap.TerminatedEvent](e)
	request[*dap.DisconnectResponse](e, "disconnect", nil)
	h.expectNothingLeft()
}

// TestDAPAttach debugs the session that a user has at a prompt, over a socket. Leaving lets the ranks
// go on.
func TestDAPAttach(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	user := h.terminal("-n", "2", "--device", device())
	user.enter(`mine := 41; fmt.Println("mine", "is set")`)
	user.expect("mine is set")
	socket := filepath.Join(h.dir, "run", "dap")
	server := h.command("dap", "--socket", socket)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	var conn net.Conn
	deadline := time.Now().Add(patience())
	for conn == nil {
		var err error
		if conn, err = net.Dial("unix", socket); err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	defer conn.Close()
	e := newEditor(t, conn, conn)
	request[*dap.InitializeResponse](e, "initialize", map[string]any{"clientName": "test editor", "adapterID": "symmrepl", "linesStartAt1": true})
	request[*dap.AttachResponse](e, "attach", nil)
	await[*dap.InitializedEvent](e)
	request[*dap.ConfigurationDoneResponse](e, "configurationDone", nil)
	if got := request[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "mine + symm.Rank()"}).Body.Result; got != "[0] 41\n[1] 42" {
		t.Errorf("the value is %q", got)
	}
	request[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "theirs := func() int {\n\tmine++\n\treturn mine\n}", "context": "repl"})
	user.expect("test editor (dap) runs cell 2")
	user.expect("is done")
	sources := request[*dap.LoadedSourcesResponse](e, "loadedSources", nil).Body.Sources
	if len(sources) != 2 || sources[1].SourceReference != 2 {
		t.Fatalf("the sources are %+v", sources)
	}
	if got := request[*dap.SourceResponse](e, "source", map[string]any{"sourceReference": 2}).Body.Content; !strings.HasPrefix(got, "theirs := func") {
		t.Errorf("the source is %q", got)
	}
	set := request[*dap.SetBreakpointsResponse](e, "setBreakpoints",
		map[string]any{"source": map[string]any{"sourceReference": 2}, "lines": []int{2}}).Body.Breakpoints
	if len(set) != 1 || !set[0].Verified {
		t.Errorf("the breakpoints are %+v", set)
	}
	user.enter("theirs()")
	user.expect("the debugger of another front end has stopped")
	await[*dap.StoppedEvent](e)
	scopes, frame := e.scopes(1)
	if frame.Source == nil || frame.Source.SourceReference != 2 {
		t.Errorf("rank 0 stands at %+v", frame)
	}
	if got := e.rows(scopes["Session"]); !strings.Contains(got, "mine=41") {
		t.Errorf("the session's variables are %s", got)
	}
	request[*dap.DisconnectResponse](e, "disconnect", nil)
	user.expect("42")
}

// TestDAPSessionEnds ends the session to which an editor is attached.
func TestDAPSessionEnds(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	user := h.terminal("-n", "1", "--device", "cpu")
	user.enter(`fmt.Println("ready", 1)`)
	user.expect("ready 1")
	e := h.dap()
	request[*dap.InitializeResponse](e, "initialize", map[string]any{"adapterID": "symmrepl", "linesStartAt1": true})
	request[*dap.AttachResponse](e, "attach", nil)
	await[*dap.InitializedEvent](e)
	user.enter(":quit")
	await[*dap.TerminatedEvent](e)
}

// TestDAPPort serves a port to those who know the token.
func TestDAPPort(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	const token = "0123456789abcdef0123456789abcdef"
	h.env = append(h.env, "SYMMREPL_TOKEN="+token)
	server := h.command("dap", "--listen", "127.0.0.1:0")
	said, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	line, _ := bufio.NewReader(said).ReadString('\n')
	var port int
	if _, err := fmt.Sscanf(line, "symmrepl: editors that give the token can debug at 127.0.0.1:%d\n", &port); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	e := newEditor(t, conn, conn)
	if r := e.ask("attach", map[string]any{"token": "0"}).(*dap.ErrorResponse); !strings.HasPrefix(r.Message, "the token is wrong") {
		t.Errorf("the answer to a wrong token is %q", r.Message)
	}
	if r := e.ask("attach", map[string]any{"token": token}).(*dap.ErrorResponse); r.Message != "no session of yours runs on this host; start one with `symmrepl`" {
		t.Errorf("the answer to the token is %q", r.Message)
	}
}
