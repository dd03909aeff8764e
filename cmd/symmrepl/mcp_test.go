package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/symmrepl/symmrepl/internal/pace"
)

// mcpClient is a client of symmrepl mcp.
type mcpClient struct {
	*sdk.ClientSession
	t *testing.T
}

// connectMCP connects a client by a transport, until the end of the test.
func connectMCP(t *testing.T, transport sdk.Transport) mcpClient {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test agent\x1b[2J", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return mcpClient{s, t}
}

// mcp starts symmrepl mcp with arguments and connects to it.
func (h home) mcp(t *testing.T, args ...string) mcpClient {
	t.Helper()
	return connectMCP(t, &sdk.CommandTransport{Command: h.command(append([]string{"mcp"}, args...)...)})
}

// call calls a tool and decodes its answer into out, unless it is nil. It returns the text of an
// error.
func (a mcpClient) call(ctx context.Context, tool string, args map[string]any, out any) (failed string) {
	a.t.Helper()
	r, err := a.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error()
	}
	if r.IsError {
		return r.Content[0].(*sdk.TextContent).Text
	}
	text, err := json.Marshal(r.StructuredContent)
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		a.t.Fatalf("%s: %v\n%s", tool, err, text)
	}
	return ""
}

// ran is the answer to run and sanitize, as far as the tests read it.
type ran struct {
	OK     bool
	Cell   int
	Output []struct {
		Ranks        []int
		Stream, Text string
	}
	Values []struct {
		Ranks []int
		Text  string
	}
	Errors []struct {
		Kind, File, Msg, Hint string
		Ranks                 []int
		Line, Column          int
	}
	Findings []struct {
		Kind, Repair string
		Ranks        []int
		Accesses     []struct {
			Op, File, Source string
			Line, Column     int
		}
	}
	LeftOut string `json:"left_out"`
}

// state of a session, as far as the tests read it.
type seen struct {
	Processes []struct {
		Rank  int
		State string
	}
	Variables []struct {
		Ranks                     []int
		Name, Type, DType, Memory string
		Bytes                     int
		Shape                     []int
	}
	Differ     []string
	Statistics []struct {
		Ranks         []int
		NaN, Infinite int
		Min, Max      string
		Mean          string
		Deviation     string
	}
	Groups []struct {
		Name  string
		Calls int
	}
	Errors []struct{ Msg string }
}

// plain returns a value as JSON has it.
func plain(value any) (out any) {
	text, _ := json.Marshal(value)
	json.Unmarshal(text, &out)
	return out
}

// TestMCP uses every tool over standard input and output, on a session that symmrepl mcp starts.
func TestMCP(t *testing.T) {
	h := newHome(t, 2)
	a := h.mcp(t, "-n", "2", "--device", device())
	ctx, cancel := pace.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	equal := func(what string, got, want any) {
		t.Helper()
		if g, w := plain(got), plain(want); !reflect.DeepEqual(g, w) {
			t.Errorf("%s:\n%v\nwant\n%v", what, g, w)
		}
	}
	run := func(args map[string]any) (r ran) {
		t.Helper()
		if failed := a.call(ctx, "run", args, &r); failed != "" {
			t.Fatal(failed)
		}
		return r
	}

	r := run(map[string]any{"source": "fmt.Println(\"all\"); if symm.Rank() == 1 { fmt.Println(\"one\") }; symm.Rank() * 2"})
	equal("output", r.Output, []map[string]any{{"Ranks": []int{0, 1}, "Stream": "stdout", "Text": "all\n"},
		{"Ranks": []int{1}, "Stream": "stdout", "Text": "one\n"}})
	equal("values", r.Values, []map[string]any{{"Ranks": []int{0}, "Text": "0"}, {"Ranks": []int{1}, "Text": "2"}})
	r = run(map[string]any{"source": "a := 1\na.b()", "ranks": []int{1}})
	if len(r.Errors) != 1 || r.OK || r.Errors[0].Kind != "type" || r.Errors[0].Line != 2 || r.Errors[0].Column != 3 || r.Errors[0].File != "cell[2]" {
		t.Errorf("the errors are %+v", r.Errors)
	}
	equal("ranks of the error", r.Errors[0].Ranks, []int{1})
	r = run(map[string]any{"source": `fmt.Print(strings.Repeat("é", 100000))`})
	if !strings.HasPrefix(r.LeftOut, "left out: 134464 bytes of output") || len(r.Output[0].Text) != 64<<10 {
		t.Errorf("%q, and %d bytes of output", r.LeftOut, len(r.Output[0].Text))
	}
	r = run(map[string]any{"source": "time.Sleep(time.Hour)", "timeout": 0.2})
	if len(r.Errors) != 1 || r.Errors[0].Kind != "interrupted" {
		t.Errorf("after its time the cell ended with %+v", r.Errors)
	}

	run(map[string]any{"source": "x := symm.Empty(symm.F32, 2, 2).Fill(1); if symm.Rank() == 1 { x.View(-1).Slice(2, 3).Fill(3) }; n := 5"})
	var s seen
	if failed := a.call(ctx, "state", map[string]any{"tensor": "x"}, &s); failed != "" {
		t.Fatal(failed)
	}
	equal("names that differ", s.Differ, []string{"x"})
	if len(s.Variables) != 3 || s.Variables[0].DType != "f32" || s.Variables[0].Memory != "symmetric" ||
		s.Variables[0].Bytes != 16 || s.Groups[0].Name != "world" {
		t.Errorf("the state is %+v", s)
	}
	equal("the shape", s.Variables[0].Shape, []int{2, 2})
	equal("the statistics", s.Statistics, []map[string]any{
		{"Ranks": []int{0}, "NaN": 0, "Infinite": 0, "Min": "1", "Max": "1", "Mean": "1", "Deviation": "0"},
		{"Ranks": []int{1}, "NaN": 0, "Infinite": 0, "Min": "1", "Max": "3", "Mean": "1.5", "Deviation": "0.8660254037844386"},
	})
	var d struct {
		Equal       bool
		Differences []struct {
			Ranks []int
			First []int
			X, Y  string
		}
	}
	if failed := a.call(ctx, "diff", map[string]any{"x": "x"}, &d); failed != "" || d.Equal || len(d.Differences) != 2 {
		t.Errorf("%s: %+v", failed, d)
	}
	equal("the first difference", d.Differences[1].First, []int{1, 0})

	var traced struct {
		Operations []struct {
			Op, At string
			Steps  int
		}
	}
	if failed := a.call(ctx, "trace", map[string]any{"source": "symm.Rendezvous(x).Barrier(0)"}, &traced); failed != "" ||
		len(traced.Operations) != 1 || traced.Operations[0].Op != "barrier" || traced.Operations[0].Steps != 2 || traced.Operations[0].At != "cell[6]:1" {
		t.Errorf("%s: %+v", failed, traced)
	}
	var docs struct {
		Text  string
		Lines []struct{ URI string }
	}
	if failed := a.call(ctx, "documentation", map[string]any{"query": "symm.AllReduce"}, &docs); failed != "" ||
		!strings.Contains(docs.Text, "func AllReduce") || len(docs.Lines) == 0 {
		t.Errorf("%s: %.300q, %d lines", failed, docs.Text, len(docs.Lines))
	}
	var figures struct{ Figures []map[string]any }
	if failed := a.call(ctx, "bench", map[string]any{"ops": []string{"barrier"}}, &figures); failed != "" || len(figures.Figures) == 0 {
		t.Errorf("%s: %+v", failed, figures)
	}

	// A wait that no rank ends: hang says who waits for whom, interrupt ends it.
	done := make(chan ran, 1)
	go func() {
		var r ran
		a.call(ctx, "run", map[string]any{"source": "h := symm.Rendezvous(x); if symm.Rank() == 0 { h.WaitSignal(1, 2); symm.Synchronize() } else { time.Sleep(time.Hour) }"}, &r)
		done <- r
	}()
	var hung struct {
		Own   bool
		Waits []struct {
			Ranks, Peers []int
			Op, For, At  string
		}
	}
	for len(hung.Waits) == 0 {
		if failed := a.call(ctx, "hang", nil, &hung); failed != "" {
			t.Fatal(failed)
		}
	}
	if w := hung.Waits[0]; !hung.Own || w.Op != "wait_signal" || w.For != "a signal on channel 2" || len(w.Peers) != 1 ||
		w.Peers[0] != 1 || !strings.HasPrefix(w.At, "cell[") {
		t.Errorf("hang says %+v", hung)
	}
	var stopped struct{ Interrupted bool }
	if failed := a.call(ctx, "interrupt", nil, &stopped); failed != "" || !stopped.Interrupted {
		t.Errorf("%s: %+v", failed, stopped)
	}
	if r := <-done; len(r.Errors) == 0 || r.Errors[0].Kind != "interrupted" {
		t.Errorf("the cell ended with %+v", r)
	}
	if failed := a.call(ctx, "interrupt", nil, &stopped); failed != "" || stopped.Interrupted {
		t.Errorf("%s: no cell runs, but %+v", failed, stopped)
	}

	for args, want := range map[string]string{
		`run {"source": "1", "ranks": [7]}`:        "ranks [7]: ranks are 0 to 1",
		`run {"source": "1", "timeout": -1}`:       "timeout -1",
		`run {}`:                                   "source",
		`run {"source": 5}`:                        "source",
		`sanitize {"source": "1", "orders": 1000}`: "orders 1000: a number from 1 to 100",
		`diff {"x": "x) + (1"}`:                    "no",
		`diff {"x": "x", "y": "x, x"}`:             `"x, x" is not one expression of Go`,
		`bench {"ops": ["nosuch"]}`:                `there is no operation "nosuch"`,
		`bench {"dtype": "f7"}`:                    `dtype "f7"`,
		`documentation {"query": " "}`:             "a name or words are expected",
		`nosuch {}`:                                "nosuch",
	} {
		tool, text, _ := strings.Cut(args, " ")
		var list map[string]any
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		if failed := a.call(ctx, tool, list, nil); !strings.Contains(failed, want) {
			t.Errorf("%s is answered with %q, want %q", args, failed, want)
		}
	}

	list, err := a.ListResources(ctx, nil)
	if err != nil || len(list.Resources) < 20 {
		t.Fatalf("%v: %+v", err, list)
	}
	for uri, want := range map[string]string{"symmrepl://lessons/03-signals": "PutSignal", "symmrepl://kernels/symm/wait.cuh": "namespace symm"} {
		read, err := a.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(read.Contents[0].Text, want) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if _, err := a.ReadResource(ctx, &sdk.ReadResourceParams{URI: "symmrepl://kernels/../../etc/passwd"}); err == nil {
		t.Error("a file outside of the resources was read")
	}
}

// TestMCPAttached attaches a program to the session that a user has at a prompt. The user sees the
// program's cells, shares its variables and interrupts them. A second server, which only looks,
// serves a socket.
func TestMCPAttached(t *testing.T) {
	h := newHome(t, 2)
	user := h.terminal("-n", "2", "--device", device())
	user.enter("mine := 41")
	user.expect("symm> ")
	a := h.mcp(t)
	ctx, cancel := pace.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var r ran
	if failed := a.call(ctx, "run", map[string]any{"source": "theirs := mine + 1; theirs"}, &r); failed != "" ||
		len(r.Values) != 1 || r.Values[0].Text != "42" {
		t.Fatalf("%s: %+v", failed, r)
	}
	user.expect("test agent[2J (mcp) runs cell 2 (`:stop` interrupts it):")
	user.expect("theirs := mine + 1; theirs")
	user.expect("cell 2 of test agent[2J (mcp) is done, after ")
	done := make(chan ran, 1)
	go func() {
		var r ran
		a.call(ctx, "run", map[string]any{"source": "for { time.Sleep(time.Millisecond) }"}, &r)
		done <- r
	}()
	user.expect("runs cell 3")
	user.enter(":stop")
	user.expect("cell 3 is interrupted")
	if r := <-done; len(r.Errors) != 1 || r.Errors[0].Kind != "interrupted" {
		t.Errorf("the cell ended with %+v", r)
	}
	user.expect("cell 3 of test agent[2J (mcp) has failed: ")

	socket := filepath.Join(h.dir, "run", "mcp")
	server := h.command("mcp", "--read-only", "--socket", socket)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		server.Process.Signal(os.Interrupt)
		server.Wait()
		if _, err := os.Stat(socket); err == nil {
			t.Error("the socket is still there")
		}
	}()
	for range 2 { // one client after the other
		conn := dial(ctx, t, socket)
		looker := connectMCP(t, &sdk.IOTransport{Reader: conn, Writer: conn})
		tools, err := looker.ListTools(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != "documentation hang state" {
			t.Errorf("a client that only looks has the tools %s", got)
		}
		var s seen
		if failed := looker.call(ctx, "state", nil, &s); failed != "" || len(s.Variables) != 2 || s.Variables[0].Name != "mine" {
			t.Errorf("%s: %+v", failed, s)
		}
		if failed := looker.call(ctx, "state", map[string]any{"tensor": "x"}, nil); !strings.Contains(failed, "this server only looks") {
			t.Errorf("statistics are answered with %q", failed)
		}
		if failed := looker.call(ctx, "run", map[string]any{"source": "1"}, nil); !strings.Contains(failed, "run") {
			t.Errorf("a cell is answered with %q", failed)
		}
		looker.Close()
	}
}

// dial connects to a socket once a process listens there.
func dial(ctx context.Context, t *testing.T, socket string) net.Conn {
	t.Helper()
	for {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			return conn
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
