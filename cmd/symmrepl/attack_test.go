package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	attacks    = flag.Int("attacks", 200, "how many random messages each server gets")
	attackSeed = flag.Int64("attackseed", 1, "the seed of these messages")
)

// oddities replace parts of messages.
var oddities = []string{`null`, `true`, `-1`, `0`, `1e999`, `18446744073709551616`, `1.5`, `""`, `"\u0000"`, `"\ud800"`, `[]`, `{}`, `[[0]]`, `[7]`, `[-1]`,
	`{"a":1}`, `"x"`, "\xff", `{`, `]`, `,`, strings.Repeat("[", 5000), `"` + strings.Repeat("x", 5000) + `"`}

// attacker makes messages.
type attacker struct {
	*rand.Rand
	templates []string // messages without the names of what would rightly end a session or its variables
}

// wrong returns a value of JSON with one part replaced, which is often of another type then.
func (a attacker) wrong(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if names := slices.Sorted(maps.Keys(v)); len(names) > 0 && a.Intn(8) > 0 {
			name := names[a.Intn(len(names))]
			v[name] = a.wrong(v[name])
			return v
		}
	case []any:
		if len(v) > 0 && a.Intn(8) > 0 {
			i := a.Intn(len(v))
			v[i] = a.wrong(v[i])
			return v
		}
	}
	for {
		var other any
		if json.Unmarshal([]byte(oddities[a.Intn(len(oddities))]), &other) == nil {
			return other
		}
	}
}

// message returns a message of random bytes, or a template with some parts replaced.
func (a attacker) message() []byte {
	m := []byte(a.templates[a.Intn(len(a.templates))])
	switch a.Intn(12) {
	case 0:
		m = make([]byte, a.Intn(200))
		a.Read(m)
	case 1:
		m = m[:a.Intn(len(m)+1)]
	case 2:
		m = append(m, m...)
	case 3: // as it is
	case 4, 5, 6, 7:
		var v any
		if json.Unmarshal(m, &v) == nil {
			m, _ = json.Marshal(a.wrong(v))
		}
	default:
		for range 1 + a.Intn(3) {
			values := bytes.Split(m, []byte(":"))
			if i := a.Intn(len(values)); i > 0 {
				rest := bytes.TrimLeft(values[i], ` `)
				end := bytes.IndexAny(rest, ",}]")
				values[i] = append([]byte(oddities[a.Intn(len(oddities))]), rest[max(end, 0):]...)
			}
			m = bytes.Join(values, []byte(":"))
		}
	}
	return bytes.ReplaceAll(m, []byte("\n"), []byte(" "))
}

func newAttacker(templates ...string) attacker {
	return attacker{rand.New(rand.NewSource(*attackSeed)), templates}
}

// talk is a server at the end of pipes, whose output is searched.
type talk struct {
	t       *testing.T
	process *os.Process
	in      io.WriteCloser
	said    chan string
	stderr  *lastWords
}

// lastWords keeps the end of a text.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

func (w *lastWords) Write(b []byte) (int, error) {
	const most = 2000
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	w.text = w.text[max(0, len(w.text)-most):]
	return len(b), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

func (h home) talk(args ...string) *talk {
	h.t.Helper()
	cmd := h.command(args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	stderr := &lastWords{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	s := &talk{h.t, cmd.Process, in, make(chan string, 1<<16), stderr}
	go func() {
		defer close(s.said)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			s.said <- line
		}
	}()
	h.t.Cleanup(func() {
		in.Close()
		defer time.AfterFunc(patience(), func() { cmd.Process.Kill() }).Stop()
		for range s.said {
		}
		cmd.Wait()
	})
	return s
}

// send writes to the server; it fails if the server has ended.
func (s *talk) send(b []byte, what string) {
	s.t.Helper()
	if _, err := s.in.Write(b); err != nil {
		s.t.Fatalf("%s (-attackseed %d): the server has ended: %v: %s", what, *attackSeed, err, s.stderr)
	}
}

// hears waits for a line with a text, and passes over others.
func (s *talk) hears(text string) {
	s.t.Helper()
	for limit := time.After(patience()); ; {
		select {
		case line, ok := <-s.said:
			if !ok {
				s.t.Fatalf("the server has ended (-attackseed %d): %s", *attackSeed, s.stderr)
			}
			if strings.Contains(line, text) {
				return
			}
		case <-limit:
			s.t.Fatalf("no answer with %s comes (-attackseed %d): %s", text, *attackSeed, s.stderr)
		}
	}
}

// Servers of lines get random lines. None loses the session.
func TestAttackedLines(t *testing.T) {
	for name, c := range map[string]struct {
		args      []string
		hello     string
		templates []string
		check     string // of which the answer has the text answer
		answer    string
	}{
		"serve": {[]string{"serve", "-n", "1", "--device", "cpu"}, `{"id": 900001, "put": {"name": "kept", "text": "41"}}`,
			[]string{`{"id": 1, "run": {"source": "1", "ranks": [0], "name": "n", "line": 1, "silent": true, "input": false, "show": "s"}}`,
				`{"id": 2, "get": {"expr": "kept", "ranks": [0]}}`, `{"id": 3, "put": {"name": "other", "text": "5", "ranks": [0]}}`,
				`{"id": 4, "put": {"name": "other", "file": "/nosuch", "dtype": "F32", "shape": [2], "ordinary": true}}`, `{"id": 5, "ranks": true}`,
				`{"id": 6, "inspect": {"topic": "vars", "arg": "", "ranks": [0]}}`, `{"id": 7, "findings": true}`, `{"id": 8, "cancel": true}`,
				`{"id": 9, "line": {"text": "a", "end": false}}`},
			`{"id": 900002, "run": {"source": "kept * 1000 + 1"}}`, "41001"},
		"mcp": {[]string{"mcp", "-n", "1", "--device", "cpu"},
			`{"jsonrpc":"2.0","id":900001,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
				`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
				`{"jsonrpc":"2.0","id":900003,"method":"tools/call","params":{"name":"run","arguments":{"source":"kept := 41"}}}`,
			[]string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"c"}}`,
				`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"state","arguments":{"ranks":[0],"tensor":"t"}}}`,
				`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"documentation","arguments":{"query":"symm.AllReduce"}}}`,
				`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"diff","arguments":{"a":"kept","b":"kept"}}}`,
				`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"symmrepl://x"}}`, `{"jsonrpc":"2.0","id":7,"result":{}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, `{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"m"}}`},
			`{"jsonrpc":"2.0","id":900002,"method":"tools/call","params":{"name":"run","arguments":{"source":"kept * 1000 + 1"}}}`, "41001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHome(t, 1).talk(c.args...)
			s.send([]byte(c.hello+"\n"), c.hello)
			s.hears("900001")
			attack := newAttacker(c.templates...)
			for range *attacks {
				m := attack.message()
				s.send(append(m, '\n'), fmt.Sprintf("%.300q", m))
			}
			s.send([]byte(c.check+"\n"), c.check)
			s.hears(c.answer)
		})
	}
}

// Editors' messages are random; the server answers the next ones.
func TestAttackedEditors(t *testing.T) {
	t.Parallel()
	s := newHome(t, 1).talk("dap")
	attack := newAttacker(`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"a","linesStartAt1":true}}`,
		`{"seq":2,"type":"request","command":"threads"}`, `{"seq":3,"type":"request","command":"stackTrace","arguments":{"threadId":1}}`,
		`{"seq":4,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"/x"},"lines":[1]}}`,
		`{"seq":5,"type":"request","command":"attach","arguments":{"session":"/nosuch","token":""}}`,
		`{"seq":6,"type":"request","command":"launch","arguments":{"program":"/nosuch","ranks":1}}`,
		`{"seq":7,"type":"request","command":"evaluate","arguments":{"expression":"1"}}`, `{"seq":8,"type":"event","event":"x"}`)
	framed := func(m []byte) []byte { return append([]byte(fmt.Sprintf("Content-Length: %d\r\n\r\n", len(m))), m...) }
	for range *attacks {
		m := attack.message()
		if bytes.Contains(m, []byte("disconnect")) {
			continue
		}
		s.send(framed(m), fmt.Sprintf("%.300q", m))
	}
	for range 2 { // the line with the first answer ends with the header of the second
		s.send(framed([]byte(`{"seq":900002,"type":"request","command":"nosuchcommand"}`)), "the last request")
	}
	s.hears("nosuchcommand")
}
