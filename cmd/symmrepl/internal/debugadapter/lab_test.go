package debugadapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
	"github.com/symmrepl/symmrepl/internal/heat"
	"github.com/symmrepl/symmrepl/internal/tabs"
	"github.com/symmrepl/symmrepl/session"
)

// TestMurmur2 compares hashes with those of ipykernel's murmur2_x86, which JupyterLab's equals.
func TestMurmur2(t *testing.T) {
	for text, want := range map[string]uint32{
		"": 3990065800, "a": 2167009006, "ab": 2805137849, "abc": 3350977461, "abcd": 804720481, "x := 1\ny := x": 3492561900, "größer ≠ 日本": 2012033134,
	} {
		if got := murmur2([]byte(text), hashSeed); got != want {
			t.Errorf("murmur2(%q) = %d, want %d", text, got, want)
		}
	}
}

// frontEnd is JupyterLab on a fake session.
type frontEnd struct {
	t       *testing.T
	lab     *Lab
	console *console.Console
	events  []string
	seq     int
}

func newFrontEnd(t *testing.T, fake *consoletest.Session) *frontEnd {
	n := &frontEnd{t: t, console: &console.Console{Session: fake, Size: len(fake.Infos)}}
	n.lab = NewLab(func(e dap.EventMessage) {
		text, _ := json.Marshal(e)
		n.events = append(n.events, string(text))
	})
	n.lab.prefix = "/tmp/k/"
	return n
}

// expect sends a request and checks the body of its reply, or the message of an error.
func (n *frontEnd) expect(command, arguments, want string) {
	n.t.Helper()
	n.seq++
	content := fmt.Sprintf(`{"type":"request","seq":%d,"command":%q,"arguments":%s}`, n.seq, command, arguments)
	if arguments == "" {
		content = fmt.Sprintf(`{"type":"request","seq":%d,"command":%q}`, n.seq, command)
	}
	reply := n.lab.Answer(n.t.Context(), []byte(content), func(context.Context) (*console.Console, error) {
		if n.console == nil {
			return nil, errors.New("the session could not start")
		}
		return n.console, nil
	})
	text, _ := json.Marshal(reply)
	var r struct {
		dap.Response
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		n.t.Fatal(err)
	}
	got := string(r.Body)
	if !r.Success {
		got = r.Message
	}
	if got != want || r.RequestSeq != n.seq || r.Command != command || r.Type != "response" {
		n.t.Errorf("%s %s\n got %s\nwant %s\n(%s)", command, arguments, got, want, text)
	}
}

// variables are the variables of a session of two ranks.
func variables(ranks []int, q session.Query) (list []session.Answer) {
	for r := range 2 {
		if ranks != nil && ranks[0] != r {
			continue
		}
		vars := []session.Variable{{Name: "n", Type: "int", Value: "3"}, {Name: "r", Type: "int", Value: fmt.Sprint(r)}}
		a := session.Answer{Rank: r, State: &session.RankState{Variables: vars}}
		if q.Topic == session.TopicVars {
			a = session.Answer{Rank: r, Variables: vars}
		}
		list = append(list, a)
	}
	return list
}

// TestInspect inspects variables while nothing is stopped and the debugger has not been started.
func TestInspect(t *testing.T) {
	fake, _ := newFake()
	fake.OnInspect = variables
	n := newFrontEnd(t, fake)
	n.expect("inspectVariables", "{}", `{"variables":[{"name":"n","value":"3","type":"int = 3","evaluateName":"n","variablesReference":0},`+
		`{"name":"r","value":"[0] 0  [1] 1","type":"int = [0] 0  [1] 1","evaluateName":"r","variablesReference":1},`+
		`{"name":"rank 0","value":"idle, cpu","variablesReference":2},{"name":"rank 1","value":"idle, cpu","variablesReference":3}]}`)
	n.expect("variables", `{"variablesReference":1}`, `{"variables":[{"name":"rank 0","value":"0","type":"int = 0","evaluateName":"r","variablesReference":0},`+
		`{"name":"rank 1","value":"1","type":"int = 1","evaluateName":"r","variablesReference":0}]}`)
	n.expect("variables", `{"variablesReference":3}`, `{"variables":[{"name":"n","value":"3","type":"int = 3","evaluateName":"n","variablesReference":0},`+
		`{"name":"r","value":"1","type":"int = 1","evaluateName":"r","variablesReference":0}]}`)
	n.expect("inspectVariables", "{}", `{"variables":[{"name":"n","value":"3","type":"int = 3","evaluateName":"n","variablesReference":0},`+
		`{"name":"r","value":"[0] 0  [1] 1","type":"int = [0] 0  [1] 1","evaluateName":"r","variablesReference":4},`+
		`{"name":"rank 0","value":"idle, cpu","variablesReference":5},{"name":"rank 1","value":"idle, cpu","variablesReference":6}]}`)
	n.expect("inspectVariables", "{}", `{"variables":[{"name":"n","value":"3","type":"int = 3","evaluateName":"n","variablesReference":0},`+
		`{"name":"r","value":"[0] 0  [1] 1","type":"int = [0] 0  [1] 1","evaluateName":"r","variablesReference":7},`+
		`{"name":"rank 0","value":"idle, cpu","variablesReference":8},{"name":"rank 1","value":"idle, cpu","variablesReference":9}]}`)
	n.expect("variables", `{"variablesReference":3}`, "variablesReference 3 is not valid any more: the ranks have gone on since")
	n.expect("setBreakpoints", `{"source":{"path":"/tmp/k/1.go"},"breakpoints":[{"line":1}]}`, "the debugger has not been started")
	n.console = nil
	n.expect("inspectVariables", "", "the session could not start")
	n.expect("debugInfo", "", `{"breakpoints":[],"copyToGlobals":false,"exceptionPaths":[],"hashMethod":"Murmur2","hashSeed":3339675911,"isStarted":false,`+
		`"richRendering":true,"stoppedThreads":[],"tmpFilePrefix":"/tmp/k/","tmpFileSuffix":".go"}`)
	n.expect("copyToGlobals", "{}", `the request "copyToGlobals" is not supported`)
}

// TestRichInspect checks the forms of a tensor: its table with the heat map of the same ranks.
func TestRichInspect(t *testing.T) {
	fake, _ := newFake()
	fake.OnEval = func(cell session.Cell) session.Reply {
		if !cell.Silent {
			t.Errorf("the cell %q is recorded", cell.Source)
		}
		var reply session.Reply
		for r := range 2 {
			v := session.Value{Ranks: []int{r}, Text: fmt.Sprintf("t%d", r),
				Data: map[string]any{"text/html": fmt.Sprintf("<table>%d</table>%s", r, heat.Image([]float64{0, 1}, 2, 1, 2))}}
			if strings.HasPrefix(cell.Source, "chart.Heat") {
				v = session.Value{Ranks: []int{r}, Text: "chart", Data: map[string]any{"image/svg+xml": fmt.Sprintf("<?xml?>\n<svg>%d</svg>", r)}}
			}
			if cell.Source == "nosuch" {
				return session.Reply{Errors: []*session.Error{{Kind: session.KindType, Ranks: []int{0, 1}, Peer: -1, Msg: "undefined: nosuch"}}}
			}
			reply.Values = append(reply.Values, v)
		}
		return reply
	}
	n := newFrontEnd(t, fake)
	page, err := json.Marshal(tabs.Name(tabs.HTML([]tabs.Tab{
		{Label: "rank 0", HTML: "<table>0</table><div><svg>0</svg></div>"}, {Label: "rank 1", HTML: "<table>1</table><div><svg>1</svg></div>"},
	}), "0 t"))
	if err != nil {
		t.Fatal(err)
	}
	n.expect("richInspectVariables", `{"variableName":"t"}`,
		`{"data":{"image/svg+xml":"\u003c?xml?\u003e\n\u003csvg\u003e0\u003c/svg\u003e","text/html":`+string(page)+
			`,"text/plain":"[0] t0\n[1] t1"},"metadata":{}}`)
	n.expect("richInspectVariables", `{"variableName":"nosuch"}`, `{"data":{},"metadata":{}}`)
	count := len(fake.Cells)
	n.expect("richInspectVariables", `{"variableName":"os.Exit(1)"}`, `{"data":{},"metadata":{}}`)
	if len(fake.Cells) != count {
		t.Errorf("%q was run", fake.Cells[count].Source)
	}
	fake.Infos[0].State = "waiting"
	n.expect("richInspectVariables", `{"variableName":"t"}`, "a cell runs: the elements of tensors can be read when it is done")
}

// TestStopInCell sets a breakpoint in a cell and looks at the ranks, which are scopes.
func TestStopInCell(t *testing.T) {
	fake, d := newFake()
	fake.OnInspect = variables
	n := newFrontEnd(t, fake)
	n.expect("initialize", `{"clientID":"jupyterlab","linesStartAt1":true}`, `{"exceptionBreakpointFilters":[],"supportsConfigurationDoneRequest":true}`)
	n.expect("attach", "{}", "")
	n.expect("dumpCell", `{"code":":on 0\nx := 1\n"}`, `{"sourcePath":"/tmp/k/3652198251.go"}`)
	n.expect("setBreakpoints", `{"breakpoints":[{"line":2}],"source":{"path":"/tmp/k/3652198251.go"},"sourceModified":false}`,
		`{"breakpoints":[{"id":1,"verified":true,"source":{"path":"/tmp/k/3652198251.go"},"line":3}]}`)
	n.expect("setBreakpoints", `{"breakpoints":[{"line":2}],"source":{"path":"/tmp/k/1.go"}}`,
		"no cell with the path /tmp/k/1.go is known: it was changed, or belongs to another kernel")
	if got := d.done(); got != "break 0x := 1 [2]" {
		t.Errorf("the debugger was asked: %s", got)
	}
	n.lab.Entered("cell[1]", ":on 0\nx := 1\n") // as the frames name it
	fake.Event(session.DebugEvent{Stopped: stop(1)})
	n.expect("debugInfo", "{}", `{"breakpoints":[{"breakpoints":[{"line":3}],"source":"/tmp/k/3652198251.go"}],"copyToGlobals":false,"exceptionPaths":[],"hashMethod":"Murmur2","hashSeed":3339675911,`+
		`"isStarted":true,"richRendering":true,"stoppedThreads":[1,2],"tmpFilePrefix":"/tmp/k/","tmpFileSuffix":".go"}`)
	n.expect("stackTrace", `{"threadId":1}`,
		`{"stackFrames":[{"id":1,"name":"f","source":{"name":"cell[1]","path":"/tmp/k/3652198251.go"},"line":2,"column":3},`+
			`{"id":2,"name":"/w/main.go","source":{"name":"/w/main.go","path":"/tmp/k/cell-2.go"},"line":7,"column":1}],"totalFrames":2}`)
	n.expect("scopes", `{"frameId":1}`, `{"scopes":[{"name":"rank 0","variablesReference":1,"expensive":false},{"name":"rank 1","variablesReference":2,"expensive":false}]}`)
	n.expect("variables", `{"variablesReference":2}`, `{"variables":[{"name":"x","value":"10","type":"int = 10","evaluateName":"x","variablesReference":0},`+
		`{"name":"t","value":"f32[2, 3] on cpu …","type":"*symm.Tensor = f32[2, 3] on cpu …","evaluateName":"t","variablesReference":3}]}`)
	d.done()
	n.expect("evaluate", `{"context":"repl","expression":"x","frameId":2}`, `{"result":"[0] 1\n[1] 2","variablesReference":0}`)
	n.expect("richInspectVariables", `{"variableName":"x","frameId":2}`, `{"data":{"text/plain":"[0] 1\n[1] 2"},"metadata":{}}`)
	if got := d.done(); got != "evaluate [] 1 x; evaluate [] 1 x; evaluate [] 1 chart.Heat(x)" {
		t.Errorf("the debugger was asked: %s", got)
	}
	n.expect("source", `{"source":{"path":"/tmp/k/3652198251.go"},"sourceReference":0}`, `{"content":":on 0\nx := 1\n","mimeType":"text/x-go"}`)
	n.expect("continue", `{"threadId":1}`, `{"allThreadsContinued":true}`)
	fake.Event(session.DebugEvent{Continued: 1})
	if got := strings.Join(n.events, "\n"); got != `{"seq":0,"type":"event","event":"initialized"}`+"\n"+
		`{"seq":0,"type":"event","event":"stopped","body":{"reason":"breakpoint","threadId":1,"allThreadsStopped":true}}`+"\n"+
		`{"seq":0,"type":"event","event":"continued","body":{"threadId":1,"allThreadsContinued":true}}` {
		t.Errorf("the events are\n%s", got)
	}
	other := &console.Console{Session: fake, Size: 2} // as after %restart -n
	d.done()
	n.console = other
	if err := n.lab.Reopen(t.Context(), other); err != nil {
		t.Error(err)
	}
	if got := d.done(); got != "close; break 0x := 1 [3]" {
		t.Errorf("the debugger was asked: %s", got)
	}
	n.expect("disconnect", `{"restart":false}`, "")
	if got := d.done(); got != "close" {
		t.Errorf("the debugger was asked: %s", got)
	}
	n.expect("next", `{"threadId":1}`, "the debugger has not been started")
}

// FuzzLab sends content of debug requests of any form.
func FuzzLab(f *testing.F) {
	for _, content := range []string{
		``, `[]`, `{}`, `{"type":"request","command":"debugInfo"}`, `{"type":"request","command":"inspectVariables","arguments":5}`,
		`{"type":"request","command":"richInspectVariables","arguments":{"variableName":"n","frameId":-1}}`,
		`{"type":"request","command":"dumpCell","arguments":{"code":"\u0000%%rank [9]"}}`, `{"type":"request","command":"initialize"}`,
		`{"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"x"},"lines":[-1]}}`, `{"type":"event","event":"stopped"}`,
		`{"type":"request","command":"variables","arguments":{"variablesReference":1,"start":-1,"count":-1}}`,
		`{"type":"request","command":"scopes","arguments":{"frameId":1}}`,
	} {
		f.Add(content)
	}
	fake, _ := newFake()
	fake.OnInspect = variables
	c := &console.Console{Session: fake, Size: 2}
	lab := NewLab(func(dap.EventMessage) {})
	f.Fuzz(func(t *testing.T, content string) {
		reply := lab.Answer(t.Context(), []byte(content), func(context.Context) (*console.Console, error) { return c, nil })
		if _, err := json.Marshal(reply); err != nil {
			t.Error(err)
		}
		if fake.Event != nil {
			fake.Event(session.DebugEvent{Stopped: stop(1)})
		}
	})
}
