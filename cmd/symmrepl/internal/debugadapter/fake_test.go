package debugadapter

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
	"github.com/symmrepl/symmrepl/session"
)

// fakeDebugger answers as a session whose ranks stand in f, called by a cell of main.go, and records
// what it is asked to do.
type fakeDebugger struct {
	mu    sync.Mutex
	asked []string
}

func (d *fakeDebugger) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, fmt.Sprintf(format, args...))
}

// done returns the requests since the last call.
func (d *fakeDebugger) done() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := strings.Join(d.asked, "; ")
	d.asked = nil
	return text
}

func (d *fakeDebugger) SetBreakpoints(_ context.Context, s session.BreakpointSource, lines []int) (list []session.Breakpoint, _ error) {
	d.note("break %v%v%v %v", s.Cell, s.File, s.Text, lines)
	for _, n := range lines {
		b := session.Breakpoint{Source: s, Asked: n, Line: n + 1, Verified: true}
		if n > 100 {
			b.Line, b.Verified, b.Reason = n, false, "there is no such line"
		}
		list = append(list, b)
	}
	return list, nil
}

func (d *fakeDebugger) Breakpoints(context.Context) ([]session.Breakpoint, error) { return nil, nil }

func (d *fakeDebugger) Resume(_ context.Context, how session.Resume) error {
	d.note("%s", how)
	return nil
}

func (d *fakeDebugger) Pause(context.Context) error {
	d.note("pause")
	return nil
}

func (d *fakeDebugger) Stopped(context.Context) (*session.Stop, error) { return nil, nil }

func (d *fakeDebugger) Frames(_ context.Context, rank int) ([]session.Frame, error) {
	return []session.Frame{
		{Function: "main.f", Place: session.Place{Cell: 1, Name: "cell[1]", Line: 2, Column: 3}},
		{Function: "main.main", Place: session.Place{Cell: 2, Name: "/w/main.go", Line: 7, Column: 1}},
	}, nil
}

func (d *fakeDebugger) Variables(_ context.Context, rank, frame int) (locals, globals []session.Variable, err error) {
	tensor := session.Variable{Name: "t", Type: "*symm.Tensor", Size: 24, Value: "f32[2, 3] on cpu\n 1 2 3\n 4 5 6",
		Tensor: &session.TensorInfo{DType: "f32", Shape: []int{2, 3}, Memory: "ordinary"}}
	return []session.Variable{{Name: "x", Type: "int", Value: fmt.Sprint(10*rank + frame)}},
		[]session.Variable{{Name: "x", Type: "string", Value: `"hidden"`}, tensor}, nil
}

func (d *fakeDebugger) Evaluate(_ context.Context, ranks []int, frame int, expression string) (session.Reply, error) {
	d.note("evaluate %v %d %s", ranks, frame, expression)
	switch {
	case strings.HasPrefix(expression, "fmt.Sprint"):
		return session.Reply{Values: []session.Value{{Ranks: ranks, Text: `"[1 2 3 4 5 6]"`}}}, nil
	case expression == "bad":
		return session.Reply{Errors: []*session.Error{{Kind: session.KindType, Ranks: []int{0}, Peer: -1, Msg: "undefined: bad", Hint: "define it"}}}, nil
	}
	return session.Reply{Values: []session.Value{{Ranks: []int{0}, Text: "1"}, {Ranks: []int{1}, Text: "2"}}}, nil
}

func (d *fakeDebugger) Close() error {
	d.note("close")
	return nil
}

// newFake returns a session of two ranks that are idle, and its debugger.
func newFake() (*consoletest.Session, *fakeDebugger) {
	d := &fakeDebugger{}
	fake := &consoletest.Session{Debugger: d}
	for r := range 2 {
		fake.Infos = append(fake.Infos, session.RankInfo{Rank: r, Device: "cpu", State: "idle"})
	}
	return fake, d
}

// stop is a stop of both ranks.
func stop(id int) *session.Stop {
	return &session.Stop{ID: id, Cell: 2, Name: "/w/main.go", Complete: true, Reason: session.AtBreakpoint, Ranks: []session.RankStop{
		{Rank: 0, State: session.Stands, Reason: session.AtBreakpoint}, {Rank: 1, State: session.Stands, Reason: session.AtBreakpoint},
	}}
}

// editor is a client of a Server.
type editor struct {
	t      *testing.T
	conn   net.Conn
	in     *bufio.Reader
	seq    int
	events []dap.EventMessage // that came while the editor waited for a response
	served chan error
}

// connect connects an editor to a server.
func connect(t *testing.T, s Server) *editor {
	t.Helper()
	here, there := net.Pipe()
	e := &editor{t: t, conn: here, in: bufio.NewReader(here), served: make(chan error, 1)}
	go func() {
		e.served <- s.Serve(context.Background(), there, there)
		there.Close()
	}()
	t.Cleanup(func() { here.Close() })
	return e
}

// ask sends a request and returns the body of its response, or the message of an error.
func (e *editor) ask(command string, arguments any) (body json.RawMessage, failed string) {
	e.t.Helper()
	e.seq++
	content, err := json.Marshal(map[string]any{"seq": e.seq, "type": "request", "command": command, "arguments": arguments})
	if err == nil {
		err = dap.WriteBaseMessage(e.conn, content)
	}
	for err == nil {
		var m json.RawMessage
		if m, err = dap.ReadBaseMessage(e.in); err != nil {
			break
		}
		var r struct {
			dap.Response
			Body json.RawMessage `json:"body"`
		}
		if err = json.Unmarshal(m, &r); err != nil {
			break
		}
		if r.Type == "event" {
			e.event(m)
			continue
		}
		if r.RequestSeq != e.seq || r.Command != command {
			e.t.Fatalf("the response to %d, %s, is %s", e.seq, command, m)
		}
		if !r.Success {
			return nil, r.Message
		}
		return r.Body, ""
	}
	e.t.Fatalf("%s: %v", command, err)
	return nil, ""
}

func (e *editor) event(content []byte) {
	m, err := dap.DecodeProtocolMessage(content)
	if err != nil {
		e.t.Fatalf("%v\n%s", err, content)
	}
	e.events = append(e.events, m.(dap.EventMessage))
}

// expect checks a response.
func (e *editor) expect(command string, arguments any, want string) {
	e.t.Helper()
	body, failed := e.ask(command, arguments)
	if got := string(body) + failed; got != want {
		e.t.Errorf("%s %v\n got %s\nwant %s", command, arguments, got, want)
	}
}

// next returns the next event.
func (e *editor) next() dap.EventMessage {
	e.t.Helper()
	if len(e.events) == 0 {
		content, err := dap.ReadBaseMessage(e.in)
		if err != nil {
			e.t.Fatal(err)
		}
		e.event(content)
	}
	first := e.events[0]
	e.events = e.events[1:]
	return first
}

// expectEvent checks the next event.
func (e *editor) expectEvent(want string) {
	e.t.Helper()
	got := e.next()
	text, _ := json.Marshal(got)
	var m struct {
		Event string          `json:"event"`
		Body  json.RawMessage `json:"body"`
	}
	json.Unmarshal(text, &m)
	if text := m.Event + " " + string(m.Body); strings.TrimSpace(text) != want {
		e.t.Errorf("the event is\n%s\nwant\n%s", text, want)
	}
}

// serverOf returns a server whose targets are a fake session. The program ends when run is closed.
func serverOf(fake *consoletest.Session, run <-chan struct{}) Server {
	target := func() *Target {
		return &Target{Console: &console.Console{Session: fake, Size: len(fake.Infos)}, Close: fake.Close}
	}
	return Server{
		Launch: func(_ context.Context, p Launch) (*Target, error) {
			if p.Program == "/nosuch.go" {
				return nil, fmt.Errorf("open %s: no such file or directory", p.Program)
			}
			t := target()
			t.Run = func(ctx context.Context, printer console.Printer) int {
				printer.Output(session.Output{Ranks: []int{0, 1}, Stream: session.Stdout, Text: "hello\n"})
				select {
				case <-run:
					return 3
				case <-ctx.Done():
					return 1
				}
			}
			return t, nil
		},
		Attach: func(context.Context, string) (*Target, error) { return target(), nil },
	}
}
