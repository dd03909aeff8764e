package companion

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// talk returns a function that sends lines to a companion and returns its answer to the request with
// a number, and one that ends the companion.
func talk(t *testing.T) (ask func(id uint64, lines ...string) answer, end func() error) {
	t.Helper()
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), "1.2.3", in, out, nil)
		out.Close()
	}()
	lines := bufio.NewScanner(answers)
	lines.Buffer(nil, maxLine)
	if !lines.Scan() || lines.Text() != `{"id":0,"version":"1.2.3"}` {
		t.Errorf("the first line is %s", lines.Text())
	}
	ask = func(id uint64, text ...string) answer {
		t.Helper()
		go io.WriteString(requests, strings.Join(text, "\n")+"\n")
		for lines.Scan() {
			var a answer
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				t.Fatalf("%s: %v", lines.Text(), err)
			}
			if a.ID == id {
				return a
			}
		}
		t.Fatalf("no answer to request %d: %v", id, lines.Err())
		return answer{}
	}
	return ask, func() error {
		requests.Close()
		return <-ended
	}
}

func TestKernels(t *testing.T) {
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("there is no C++ compiler")
	}
	t.Setenv("SYMMREPL_CACHE", t.TempDir())
	ask, end := talk(t)
	a := ask(1, `{"id": 1, "kernels": {"name": "prog.py", "line": 12, "text": "extern \"C\" __global__ void scale(float* x, int) { x[0] *= 2; }"}}`)
	if len(a.Kernels) != 1 || a.Kernels[0].Name != "scale" || len(a.Kernels[0].Params) != 2 || a.Kernels[0].Params[0].Type != "float*" ||
		a.Kernels[0].Params[0].Name != "x" || a.Kernels[0].Params[1].Type != "int" {
		t.Errorf("the kernels are %+v", a)
	}
	if content, err := os.ReadFile(a.Library); err != nil || !strings.HasPrefix(string(content), "\x7fELF") {
		t.Errorf("the library %s: %v", a.Library, err)
	}
	if again := ask(1, `{"id": 1, "kernels": {"name": "b.py", "line": 1, "text": "extern \"C\" __global__ void scale(float* x, int) { x[0] *= 2; }"}}`); again.Library != a.Library {
		t.Errorf("the same text is compiled again: %s, %s", a.Library, again.Library)
	}
	a = ask(2, `{"id": 2, "kernels": {"name": "prog.py", "line": 12, "text": "__global__ void f(int* x) {\n  x[0] = y;\n}"}}`)
	if len(a.Diagnostics) != 1 || a.Diagnostics[0].Line != 13 || !strings.Contains(a.Error, "prog.py:13:10: ") || a.Library != "" {
		t.Errorf("a wrong text: %+v", a)
	}
	if a = ask(3, `{"id": 3, "operation": "delay"}`); a.Library == "" {
		t.Errorf("an operation: %+v", a)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestWrongRequests(t *testing.T) {
	ask, end := talk(t)
	for _, c := range []struct {
		line string
		id   uint64
		want string
	}{
		{`hello`, 0, "no line of JSON"},
		{`[1]`, 0, "no line of JSON"},
		{`{"id": -1}`, 0, "no line of JSON"},
		{`{"id": 7, "operation": 3}`, 7, "no line of JSON"},
		{`{"id": 7}`, 7, "asks for nothing"},
		{`{"id": 7, "operation": "../../etc/passwd"}`, 7, "there is no kernel"},
		{strings.Repeat("x", maxLine+1), 0, "more than"},
		{`{"id": 18446744073709551615, "operation": "none"}`, 18446744073709551615, "there is no kernel none"},
	} {
		if a := ask(c.id, c.line); !strings.Contains(a.Error, c.want) || a.Library != "" {
			t.Errorf("%.40s: %+v", c.line, a)
		}
	}
	if a := ask(8, `{"id": 8, "layouts": true}`); a.Layouts["Context"].Size != 40 || a.Layouts["Context"].Fields["timeout_ns"].Offset != 8 {
		t.Errorf("the layouts are %v", a.Layouts)
	}
	if a := ask(9, `{"id": 9, "findings": [{"findings": [{"kind": 99}]}]}`); !strings.Contains(a.Error, "no kind 99") || a.Findings != nil {
		t.Errorf("no report: %+v", a)
	}
	if a := ask(10, `{"id": 10, "findings": []}`); a.Error != "" || a.Findings == nil {
		t.Errorf("no reports: %+v", a)
	}
	if a, again := ask(11, `{"id": 11, "shadow": true}`), ask(12, `{"id": 12, "shadow": true}`); a.Shadow == "" || again.Shadow != a.Shadow {
		t.Errorf("the shadow: %+v, %+v", a, again)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// A program that is gone, or whose input breaks, ends its companion.
func TestEnds(t *testing.T) {
	in, requests := io.Pipe()
	broken := errors.New("broken")
	requests.CloseWithError(broken)
	if err := Serve(t.Context(), "", in, io.Discard, nil); !errors.Is(err, broken) {
		t.Errorf("a broken input: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, requests = io.Pipe()
	defer requests.Close()
	cancel()
	if err := Serve(ctx, "", in, io.Discard, nil); err != nil {
		t.Errorf("at its end: %v", err)
	}
}
