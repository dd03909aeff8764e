package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/session"
)

// newServer returns a server on a fake session of 4 ranks.
func newServer() (Server, *consoletest.Session) {
	fake := &consoletest.Session{}
	for r := range 4 {
		fake.Infos = append(fake.Infos, session.RankInfo{Rank: r, Device: "cpu", State: "idle"})
	}
	return Server{
		Version: "test",
		Console: func() *console.Console { return &console.Console{Session: fake, Size: 4} },
		Bench: func(_ context.Context, _ []string, _ []int, _ string, out io.Writer) error {
			_, err := io.WriteString(out, "{\"op\": \"barrier\", \"graph_us\": 1.5}\nno figure\n")
			return err
		},
	}, fake
}

// connect connects the SDK's client to a server.
func connect(t *testing.T, s Server) *sdk.ClientSession {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), there, there) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: here, Writer: here}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		<-served // it ends with the client
	})
	return c
}

// answer calls a tool and decodes its answer.
func answer[T any](t *testing.T, c *sdk.ClientSession, tool string, args map[string]any) (out T) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil || r.IsError {
		t.Fatalf("%s: %v, %+v", tool, err, r)
	}
	text, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", tool, err, text)
	}
	return out
}

// TestRun checks the answers of the tools that run cells, the name of the client, and the seeds of
// the orders.
func TestRun(t *testing.T) {
	s, fake := newServer()
	race := session.Finding{Kind: "race in a block", Ranks: []int{0}, Accesses: []session.Access{{File: "cell[1]", Line: 6, Column: 28}}}
	fake.OnEval = func(cell session.Cell) session.Reply {
		if cell.Sanitize != nil {
			return session.Reply{}
		}
		cell.Output(session.Output{Ranks: []int{0, 1}, Stream: session.Stdout, Text: "a\n"})
		cell.Output(session.Output{Ranks: []int{0, 1}, Stream: session.Stdout, Text: "b\n"})
		cell.Output(session.Output{Ranks: []int{2}, Stream: session.Stderr, Text: "c\xff\n"})
		return session.Reply{
			Cell: 1, Elapsed: 0.5, Values: []session.Value{{Ranks: []int{3}, Text: "v"}}, Findings: []session.Finding{race},
			Errors: []*session.Error{{Kind: session.KindPanic, Ranks: []int{1}, Peer: -1, File: "cell[1]", Line: 2, Msg: "panic"},
				{Kind: session.KindPeer, Ranks: []int{0}, Peer: 1, Msg: "rank 1 has failed"}},
		}
	}
	c := connect(t, s)
	got := answer[outcome](t, c, "run", map[string]any{"source": "x", "ranks": []int{3, 1, 3}})
	cell := fake.Cells[0]
	if cell.By != "test (mcp)" || cell.Silent || cell.Source != "x" || session.FormatRanks(cell.Ranks) != "1,3" {
		t.Errorf("the cell is %+v", cell)
	}
	one := 1
	want := outcome{
		Cell: 1, Elapsed: 0.5, Output: []output{{[]int{0, 1}, "stdout", "a\nb\n"}, {[]int{2}, "stderr", "c�\n"}},
		Values: []value{{[]int{3}, "v"}}, Findings: []session.Finding{race},
		Errors: []failure{{Kind: "panic", Ranks: []int{1}, File: "cell[1]", Line: 2, Msg: "panic"},
			{Kind: "peer", Ranks: []int{0}, Peer: &one, Msg: "rank 1 has failed"}},
	}
	if a, b := toJSON(got), toJSON(want); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	fake.Cells = nil
	got = answer[outcome](t, c, "sanitize", map[string]any{"source": "x", "orders": 3})
	var seeds []int64
	for _, cell := range fake.Cells {
		if cell.Sanitize != nil {
			seeds = append(seeds, cell.Sanitize.Seed)
		}
	}
	if toJSON(seeds) != "[0,0,1,2,0]" && toJSON(seeds) != "[0,1,2,0]" {
		t.Errorf("the seeds are %v", seeds)
	}
	if len(got.Findings) != 1 || len(got.Errors) != 2 || fake.Watches.On {
		t.Errorf("three orders with the same errors are answered with %+v", got)
	}
	if f := answer[figures](t, c, "bench", nil); toJSON(f.Figures) != `[{"graph_us":1.5,"op":"barrier"}]` {
		t.Errorf("the figures are %+v", f)
	}
}

func toJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// TestBounds checks that long answers are cut, and say so.
func TestBounds(t *testing.T) {
	var many []*session.Error
	for range maxItems + 7 {
		many = append(many, &session.Error{Peer: -1, Msg: strings.Repeat("é", maxText)})
	}
	r := &recorder{}
	for range 3 {
		r.Output(session.Output{Ranks: []int{0}, Stream: session.Stdout, Text: strings.Repeat("é", maxOutput/4+1)})
	}
	r.Reply(session.Reply{Errors: many})
	out := r.end()
	if n := len(out.Output[0].Text); n != maxOutput || len(out.Errors) != 1 || len(out.Errors[0].Msg) != maxText {
		t.Errorf("%d bytes of output, %d errors", n, len(out.Errors))
	}
	want := "left out: 7 of 207 errors" + strings.Repeat(", 8192 bytes of an error", 9) + ", and 192 more texts"
	if out.LeftOut != want {
		t.Errorf("%q, want %q", out.LeftOut, want)
	}
	var o omissions
	if got := o.text("a text", "aé", 2); got != "a" || o.String() != "left out: 2 bytes of a text" {
		t.Errorf("%q, %q", got, o.String())
	}
}

func TestSumUp(t *testing.T) {
	op := func(call int, name string, us int) timeline.Slice {
		return timeline.Slice{Kind: timeline.Operation, Name: name, At: "cell[1]:1", Took: int64(us) * 1000, Call: call}
	}
	wait := func(call, us int) timeline.Slice {
		return timeline.Slice{Kind: timeline.Wait, Took: int64(us) * 1000, Call: call}
	}
	var o omissions
	got := sumUp([]session.Answer{
		{Rank: 0, Trace: &session.Trace{Slices: []timeline.Slice{{Kind: timeline.Cell, Track: timeline.Cells, Name: "cell[1]", Took: 1e6},
			op(1, "put", 3), op(2, "barrier", 10), wait(2, 5), wait(2, 3), op(3, "put", 4)}}},
		{Rank: 1, Trace: &session.Trace{Slices: []timeline.Slice{op(1, "barrier", 12), wait(1, 1)}, More: 5}},
		{Rank: 2, Err: &session.Error{}},
	}, &o)
	want := []operation{
		{Op: "put", At: "cell[1]:1", Ranks: []int{0}, Steps: 2, Total: 7, Slow: 0},
		{Op: "barrier", At: "cell[1]:1", Ranks: []int{0, 1}, Steps: 2, Total: 12, Waited: 1, Slow: 1},
	}
	if toJSON(got) != toJSON(want) || o.String() != "left out: 5 records of rank 1" {
		t.Errorf("got\n%s\nwant\n%s\n%s", toJSON(got), toJSON(want), o.String())
	}
}

// FuzzServer sends hostile bytes to a server. It has to answer or to close the connection, to end
// with it, and to run cells of valid calls only.
func FuzzServer(f *testing.F) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"\u001b[2J","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	call := func(tool, args string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}` + "\n"
	}
	for _, text := range []string{
		"", "\x00", "{", "[]\n", "null\n", `{"jsonrpc":"2.0","id":1,"method":"nosuch"}` + "\n", call("run", `{"source":"1"}`), // no greeting
		hello + call("run", `{"source":"1","ranks":[0,1]}`), hello + call("run", `{"source":1}`), hello + call("run", `{"ranks":[-1,1e99]}`),
		hello + call("sanitize", `{"source":"x","orders":1e300}`), hello + call("state", `{"ranks":[4]}`), hello + call("state", `{"tensor":"x) + ("}`),
		hello + call("diff", `{"x":"\u0000"}`), hello + call("documentation", `{"query":"\ud800"}`), hello + call("hang", `[]`),
		hello + call("interrupt", `null`),
		hello + `{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"symmrepl://lessons/../x"}}` + "\n", hello + hello,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, fake := newServer()
		fake.OnEval = func(cell session.Cell) session.Reply {
			if strings.ContainsRune(cell.By, '\x1b') {
				t.Errorf("the name of the client is %q", cell.By)
			}
			return session.Reply{}
		}
		here, there := net.Pipe()
		served := make(chan struct{})
		go func() {
			defer close(served)
			s.Serve(t.Context(), there, there)
		}()
		go io.Copy(io.Discard, here)
		here.SetWriteDeadline(time.Now().Add(5 * time.Second))
		here.Write(text)
		here.Close()
		select {
		case <-served:
		case <-time.After(30 * time.Second):
			t.Fatal("the server goes on without its client")
		}
	})
}
