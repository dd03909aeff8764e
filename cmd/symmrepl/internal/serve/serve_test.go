package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/internal/shortdir"
	"github.com/symmrepl/symmrepl/session"
)

// program is the other end of a server.
type program struct {
	t       *testing.T
	in      io.WriteCloser
	answers *bufio.Scanner
	ended   chan error
	fake    *consoletest.Session
	folder  string // for files of tensors
}

// newProgram returns a program whose server has greeted it.
func newProgram(t *testing.T) *program {
	t.Helper()
	t.Setenv(userdir.SharedVariable, shortdir.New(t))
	c := consoletest.New(nil)
	c.Fake.Infos = []session.RankInfo{{Rank: 0, Device: "cpu", State: "idle"}, {Rank: 1}, {Rank: 2}, {Rank: 3}}
	fromProgram, toServer := io.Pipe()
	fromServer, toProgram := io.Pipe()
	p := &program{t, toServer, bufio.NewScanner(fromServer), make(chan error, 1), c.Fake, ""}
	go func() {
		p.ended <- Server{Console: c.Console, Version: "1", In: fromProgram, Out: toProgram}.Run(context.Background())
		toProgram.Close()
	}()
	t.Cleanup(func() { toServer.Close(); fromServer.Close() })
	g := p.next()
	if g["protocol"] != float64(Protocol) || g["size"] != 4.0 {
		t.Fatalf("greeted with %v", g)
	}
	p.folder = g["folder"].(string)
	return p
}

func (p *program) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the next answer.
func (p *program) next() map[string]any {
	p.t.Helper()
	var m map[string]any
	if !p.answers.Scan() {
		p.t.Fatalf("there is no answer: %v", p.answers.Err())
	}
	if err := json.Unmarshal(p.answers.Bytes(), &m); err != nil {
		p.t.Fatal(err)
	}
	return m
}

// says reports an answer that lacks some text.
func (p *program) says(want ...string) {
	p.t.Helper()
	got, _ := json.Marshal(p.next())
	for _, w := range want {
		if !strings.Contains(string(got), w) {
			p.t.Errorf("%s lacks %s", got, w)
		}
	}
}

func TestEntries(t *testing.T) {
	p := newProgram(t)
	p.fake.OnEval = func(c session.Cell) session.Reply {
		c.Output(session.Output{Ranks: []int{0, 2}, Stream: session.Stdout, Text: "printed\n"})
		if c.Source == "fails" {
			return session.Reply{Cell: 2, Errors: []*session.Error{{Kind: session.KindPanic, Ranks: []int{1}, Cell: 2, Peer: -1, Msg: "no", Hint: "do"}}}
		}
		return session.Reply{Cell: 1, Values: []session.Value{{Ranks: []int{3}, Text: "v"}}}
	}
	p.send(`{"id": 1, "run": {"source": "x", "ranks": [2, 0], "name": "N"}}`)
	p.says(`"id":1`, `"output":{"ranks":[0,2],"stream":"stdout","text":"printed\n"}`)
	p.says(`"id":1`, `"values":[{"ranks":[3],"text":"v"}]`)
	if c := p.fake.Cells[0]; c.Name != "N" || session.FormatRanks(c.Ranks) != "0,2" || c.Again != "Ctrl-C again" {
		t.Errorf("%+v", c)
	}
	p.send(`{"id": 2, "run": {"source": "fails", "show": "s"}}`)
	p.says(`"output"`)
	p.says(`"show":{"content":{"name":"stdout","text":"[0,2] printed\n"},"kind":"stream"}`)
	p.says(`"show"`, `"kind":"error"`)
	p.says(`"id":2`, `"kind":"panic"`, `"text":"[1] no\n[1]     hint: do"`, `"ename":"panic"`)
	if c := p.fake.Cells[1]; c.Ranks != nil {
		t.Errorf("the ranks of one entry go on to the next: %+v", c)
	}
	p.send(`{"id": 3, "run": {"source": "x", "ranks": [7]}}`)
	p.says(`"id":3`, `"refused"`, "7")
	p.send(`{"id": 4, "run": {"source": ":nosuch"}}`)
	p.says(`"id":4`, `"refused"`, "nosuch")
}

func TestRequests(t *testing.T) {
	p := newProgram(t)
	p.send(`{"id": 9, "cancel": true}`) // of nothing
	p.send(`{"id": 1, "ranks": true}`)
	p.says(`"id":1`, `"device":"cpu"`)
	p.send(`{"id": 2, "restart": {"ranks": [1], "replay": true}}`)
	p.says(`"done":true`)
	p.send(`{"id": 3, "findings": true}`)
	p.says(`"findings":[]`)
	p.send(`{"id": 4}`)
	p.says(`"refused":"the request asks for nothing`)
}

// A line that is no request is answered, and the server goes on.
func TestWrongLines(t *testing.T) {
	p := newProgram(t)
	for line, want := range map[string]string{
		"no JSON":                             `{"id":0,"refused":"a request is no line of JSON of protocol 1: `,
		"[]":                                  `{"id":0,"refused":"a request is no line of JSON`,
		`{"id": -1}`:                          `{"id":0,"refused":"a request is no line of JSON`,
		`{"id": 5, "get": {"ranks": [[0]]}}`:  `{"id":5,"refused":"a request is no line of JSON`,
		`{"id": 6, "run": {"source": 5}}`:     `{"id":6,"refused":"a request is no line of JSON`,
		`{"get": 1, "id": 7}`:                 `{"id":7,"refused":"a request is no line of JSON`,
		"null":                                `{"id":0,"refused":"the request asks for nothing`,
		`"` + strings.Repeat("x", maxLine):    `{"id":0,"refused":"a request has more than 67108864 bytes`,
		`{"id": 8, "restart": {"ranks": ""}}`: `{"id":8,"refused":"a request is no line of JSON`,
	} {
		p.send(line)
		got, _ := json.Marshal(p.next())
		if !strings.HasPrefix(string(got), want) {
			t.Errorf("%.80s: %s, want %s", line, got, want)
		}
	}
	p.send(`{"id": 1, "ranks": true}`)
	p.says(`"id":1`, `"device":"cpu"`)
}

// A number belongs to one request at a time: an answer to a wrong line does not end the request.
func TestNumbersInUse(t *testing.T) {
	p := newProgram(t)
	began, goOn := make(chan bool), make(chan bool)
	p.fake.OnEval = func(session.Cell) session.Reply { began <- true; <-goOn; return session.Reply{Cell: 1} }
	p.send(`{"id": 1, "run": {"source": "x"}}`)
	<-began
	p.send(`{"id": 1, "line": {"text": 5}}`)
	p.says(`"id":0`, "no line of JSON")
	p.send(`{"id": 1, "ranks": true}`)
	p.says(`"id":0`, "the request 1 has not ended")
	close(goOn)
	p.says(`"id":1`, `"reply"`)
}

func TestTensors(t *testing.T) {
	p := newProgram(t)
	kind := tensorType
	p.fake.OnInspect = func(ranks []int, q session.Query) (list []session.Answer) {
		for r := range 4 {
			list = append(list, session.Answer{Rank: r, Text: kind})
		}
		return list
	}
	var source string
	p.fake.OnEval = func(c session.Cell) session.Reply {
		source = c.Source
		if at := strings.Index(source, `"`); kind == tensorType && strings.Contains(source, "Save(") {
			base := source[at+1:][:strings.Index(source[at+1:], `"`)]
			for _, r := range "0123" {
				os.WriteFile(base+string(r)+".safetensors", nil, 0o600)
			}
		}
		return session.Reply{Cell: 1}
	}
	p.send(`{"id": 1, "get": {"expr": "t"}}`)
	p.says(`"got":[{"file":"`, `get1-1.safetensors"`)
	if c := p.fake.Cells[0]; !c.Silent || !strings.HasPrefix(source, "{ t := (t); path := ") {
		t.Errorf("%+v", c)
	}
	p.send(`{"id": 2, "get": {"expr": "t +"}}`)
	p.says("is no expression of Go")
	kind = "[]int"
	p.send(`{"id": 3, "get": {"expr": "t"}}`)
	p.says("has saved its tensor, but not where this process sees it")
	kind = tensorType
	p.send(`{"id": 4, "put": {"name": "t", "file": "/f-{rank}", "dtype": "F32", "shape": [2, 3]}}`)
	p.says(`"done":true`)
	if !strings.Contains(source, `fmt.Sprint(t.Shape()) == "[2 3]"`) || !strings.Contains(source, `t = symm.Load("/f-{rank}")`) {
		t.Error(source)
	}
	kind = "int"
	p.send(`{"id": 5, "put": {"name": "t", "file": "/f", "dtype": "F32", "shape": [2], "ordinary": true}}`)
	p.says(`"done":true`)
	if source != `t := symm.Load("/f", symm.Ordinary())` {
		t.Error(source)
	}
	for name, why := range map[string]string{"a b": "no expression", "t[0]": "neither a name nor a tensor"} {
		p.send(`{"id": 6, "put": {"name": "` + name + `", "file": "/f", "dtype": "F32", "shape": [2]}}`)
		p.says(why)
	}
	p.fake.OnEval = func(session.Cell) session.Reply {
		return session.Reply{Errors: []*session.Error{{Kind: session.KindPanic, Ranks: []int{0}, Cell: 1, Msg: "Save: no space left on device"}}}
	}
	kind = tensorType
	p.send(`{"id": 8, "get": {"expr": "t"}}`)
	p.says(`"hint":"SYMMREPL_SHM names another folder`)
	p.send(`{"id": 7, "put": {"name": "t", "file": "/f", "dtype": "F32", "shape": [2], "ranks": [1]}}`)
	p.says("made by all ranks")
}

// The memory of a tensor goes to a socket in the folder, and nothing else does.
func TestShare(t *testing.T) {
	p := newProgram(t)
	kind := tensorType
	p.fake.OnInspect = func(ranks []int, q session.Query) (list []session.Answer) {
		for r := range 4 {
			list = append(list, session.Answer{Rank: r, Text: kind})
		}
		return list
	}
	p.fake.OnEval = func(c session.Cell) session.Reply {
		if strings.Contains(c.Source, "fails") {
			return session.Reply{Errors: []*session.Error{{Kind: session.KindMisuse, Ranks: []int{0}, Cell: 1, Msg: "no", Hint: "do"}}}
		}
		return session.Reply{Cell: 1}
	}
	p.send(`{"id": 1, "get": {"expr": "t", "socket": "` + p.folder + `/v"}}`)
	p.says(`"got":[{"rank":0,"sent":true},{"rank":1,"sent":true},{"rank":2,"sent":true},{"rank":3,"sent":true}]`)
	if c := p.fake.Cells[0]; !c.Silent || c.Source != `(t).ExportTo("`+p.folder+`/v")` {
		t.Errorf("%+v", c)
	}
	for _, socket := range []string{"/tmp/v", "v", p.folder, p.folder + "/../v", p.folder + "/a/b"} {
		p.send(`{"id": 2, "get": {"expr": "t", "socket": "` + socket + `"}}`)
		p.says(`"argument":"socket"`, "is not in "+p.folder)
	}
	p.send(`{"id": 3, "get": {"expr": "fails()", "socket": "` + p.folder + `/v"}}`)
	p.says(`"kind":"misuse"`, `"hint":"do"`)
	kind = "[]int"
	p.send(`{"id": 4, "get": {"expr": "t", "socket": "` + p.folder + `/v"}}`)
	p.says(`"argument":"expr"`, "t is no tensor on rank 0-3, and only tensors have memory to share: it is []int")
	p.send(`{"id": 5, "get": {"expr": "t", "socket": 5}}`)
	p.says(`"refused"`, "no line of JSON")
	if n := len(p.fake.Cells); n != 2 {
		t.Errorf("%d cells ran", n)
	}
}

// The folder of files is removed with the server.
func TestFolder(t *testing.T) {
	p := newProgram(t)
	base := os.Getenv(userdir.SharedVariable)
	if dirs, _ := filepath.Glob(base + "/symmrepl-*/s*"); len(dirs) != 1 {
		t.Errorf("%v", dirs)
	}
	p.in.Close()
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
	if dirs, _ := filepath.Glob(base + "/symmrepl-*/s*"); len(dirs) != 0 {
		t.Errorf("left: %v", dirs)
	}
}

// Whatever the program sends, the server answers or ends, and does not panic.
func FuzzRequests(f *testing.F) {
	for _, line := range []string{`{"id": 1, "run": {"source": "x"}}`, `{"id": 1, "get": {"expr": "x"}}`, `{"id": 1, "get": {"expr": "x", "socket": "x"}}`,
		`{"id": 1, "put": {"name": "x"}}`, `{"id": -1}`, "[]", `{"id": 1, "run": {"ranks": [-1]}}`} {
		f.Add(line)
	}
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, lines string) {
		t.Setenv(userdir.SharedVariable, folder)
		c := consoletest.New(nil)
		Server{Console: c.Console, In: strings.NewReader(lines), Out: io.Discard}.Run(context.Background())
	})
}
