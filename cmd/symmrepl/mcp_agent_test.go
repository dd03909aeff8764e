package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
)

var updateMCP = flag.Bool("update-mcp", false, "write the transcript of docs/mcp.md again")

// wrongKernel mirrors a vector. Its accesses go out of bounds, and its threads race.
const wrongKernel = `k := symm.Compile(` + "`" + `
extern "C" __global__ void mirror(const float* in, float* out, int n) {
    __shared__ float tile[256];
    int i = threadIdx.x;
    tile[i] = in[i];
    out[i] = tile[n - 1 - i];
}` + "`" + `)
x := symm.Local(symm.F32, 200).Linspace(0, 199)
y := symm.Local(symm.F32, 200)
k.Launch(symm.Grid(1), symm.Block(256), x, y, 200)`

// mend changes a cell as its first finding says. It knows nothing but the finding.
func mend(source string, found ran) (mended, why string, err error) {
	lines := strings.Split(source, "\n")
	if len(found.Findings) == 0 {
		return "", "", fmt.Errorf("there is no finding, but %+v", found.Errors)
	}
	f := found.Findings[0]
	at := f.Accesses[0]
	for _, a := range f.Accesses {
		if a.Line > at.Line {
			at = a
		}
	}
	if at.Line < 1 || at.Line > len(lines) || lines[at.Line-1] != at.Source {
		return "", "", fmt.Errorf("the position %d:%d is not that of %q", at.Line, at.Column, at.Source)
	}
	text := strings.TrimLeft(at.Source, " ")
	indent := at.Source[:len(at.Source)-len(text)]
	switch f.Kind {
	case "out of bounds":
		index := at.Source[strings.LastIndex(at.Source[:at.Column-1], "[")+1 : at.Column-1]
		lines[at.Line-1] = fmt.Sprintf("%sif (0 <= %[2]s && %[2]s < n) %[3]s", indent, index, text)
		why = fmt.Sprintf("line %d, column %d is out of bounds: compare the index %s with 0 and n", at.Line, at.Column, index)
	case "race in a block":
		lines = slices.Insert(lines, at.Line-1, indent+"__syncthreads();")
		why = fmt.Sprintf("line %d races with line %d: meet before it", at.Line, min(f.Accesses[0].Line, f.Accesses[1].Line))
	default:
		err = fmt.Errorf("there is no rule for %q", f.Kind)
	}
	return strings.Join(lines, "\n"), why, err
}

// TestMCPAgent lets a program mend a wrong kernel by the findings alone. Its transcript is in
// docs/mcp.md; -update-mcp writes it there.
func TestMCPAgent(t *testing.T) {
	if device() != "cpu" {
		t.Skip("the sanitizer of GPUs finds no races")
	}
	h := newHome(t, 2)
	a := h.mcp(t, "-n", "2", "--device", "cpu")
	ctx, cancel := pace.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var script strings.Builder
	call := func(tool string, args map[string]any, out any) {
		t.Helper()
		var answer map[string]any
		if failed := a.call(ctx, tool, args, &answer); failed != "" {
			t.Fatal(failed)
		}
		delete(answer, "elapsed")
		if err := json.Unmarshal(indented(answer), out); err != nil {
			t.Fatal(err)
		}
		shown := map[string]any{}
		for name, value := range args {
			if name != "source" {
				shown[name] = value
			}
		}
		fmt.Fprintf(&script, "The agent calls `%s` with `%s`", tool, compact(shown))
		if source, ok := args["source"].(string); ok {
			fmt.Fprintf(&script, " and the source\n\n```go\n%s\n```\n", source)
		} else {
			script.WriteString(".\n")
		}
		fmt.Fprintf(&script, "\nThe answer:\n\n```json\n%s\n```\n\n", indented(answer))
	}
	source := wrongKernel
	for attempt := 0; ; attempt++ {
		var found ran
		call("sanitize", map[string]any{"source": source, "orders": 4}, &found)
		if found.OK {
			break
		}
		if attempt == 5 {
			t.Fatalf("the kernel is still wrong:\n%s", source)
		}
		mended, why, err := mend(source, found)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&script, "The agent: %s.\n\n", why)
		source = mended
	}
	var compared struct{ Equal bool }
	call("diff", map[string]any{"x": "y", "y": "symm.Local(symm.F32, 200).Linspace(199, 0)"}, &compared)
	if !compared.Equal {
		t.Error("the mended kernel is wrong")
	}
	script.WriteString("The kernel mirrors the vector.\n")

	const page, begin, end = "../../docs/mcp.md", "<!-- transcript -->\n", "<!-- end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := bytes.Cut(text, []byte(begin))
	_, after, ok := bytes.Cut(rest, []byte(end))
	if !ok {
		t.Fatalf("%s has no place for the transcript", page)
	}
	if now := string(before) + begin + script.String() + end + string(after); now != string(text) {
		if *updateMCP {
			if err := os.WriteFile(page, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("docs/mcp.md is stale; renew it by: go test ./cmd/symmrepl -run TestMCPAgent -update-mcp\nThe transcript is now\n%s", script.String())
	}
}

// indented and compact write JSON without escaping what only HTML needs.
func indented(value any) []byte { return written(value, "  ") }
func compact(value any) []byte  { return written(value, "") }

func written(value any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	e.Encode(value)
	return numberLists.ReplaceAllFunc(bytes.TrimSpace(b.Bytes()), func(list []byte) []byte {
		return bytes.ReplaceAll(bytes.Join(bytes.Fields(list), nil), []byte(","), []byte(", "))
	})
}

// numberLists matches a list of numbers, which is shown on one line. Lists in strings have no newline.
var numberLists = regexp.MustCompile(`\[\n[\s\d,-]+\]`)
