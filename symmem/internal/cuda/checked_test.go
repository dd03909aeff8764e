package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// TestCheckedKernels: the kernels of the tutorials, and the right and wrong ones of the sanitizer's corpus about bounds, compile with checked pointers too.
func TestCheckedKernels(t *testing.T) {
	c := compiler(t)
	for _, s := range corpus(t) {
		_, units, which := checkedSnippet(s)
		compiles(t, c, "sm_90", units[0], "")
		if len(which) == 0 {
			t.Errorf("%s:%d: no kernel was found", s.Name, s.Line)
		}
	}
}

// TestPlainPointers: texts that need plain pointers are refused, at their own lines.
func TestPlainPointers(t *testing.T) {
	c := compiler(t)
	for body, want := range map[string]struct {
		inAll bool   // whether all pointers can be checked,
		why   string // and why not those among the parameters
	}{
		"x[n] = *(x + 1) + twice(x);":                      {true, ""},
		"int* y = x + n; y[1] = 1;":                        {true, ""},
		"*(int4*)x = *reinterpret_cast<int4*>(x + 4);":     {true, "invalid type conversion"},
		"int* y = x; set(y);":                              {false, ""},
		"auto* y = x; *y = 1;":                             {false, "auto"},
		"set(x);":                                          {false, "no instance of function template"},
		"for (int* y = x; y < x + n; y++) *y = *(int*)&n;": {true, ""},
	} {
		_, units, which := checkedSnippet(device.Source{Name: "cell[2]", Line: 7, Text: `template <class T> __device__ void set(T* x) { *x = 1; }
__device__ int twice(const int* x) { return 2 * *x; }
__global__ void f(int* x, int n) {
  ` + body + "\n}"})
		if !reflect.DeepEqual(which, [][]bool{{true, false}}) {
			t.Errorf("%s: %v", body, which)
		}
		if _, err := c.Compile(units[0]); (err == nil) != want.inAll {
			t.Errorf("%s: in all places: %v", body, err)
		}
		_, err := c.Compile(units[1])
		var wrong *device.CompileError
		switch {
		case want.why == "" && err != nil:
			t.Errorf("%s: %v", body, err)
		case want.why != "" && (!errors.As(err, &wrong) || wrong.Diagnostics[0].Line != 10 || !strings.Contains(wrong.Diagnostics[0].Text, want.why)):
			t.Errorf("%s: the error is %v, want %q on line 10", body, err, want.why)
		}
	}
}

var variant = regexp.MustCompile(`(?m)^.*// (right|wrong).*$`)

// corpus returns those texts. Lines of the corpus that say so are in the right, or in the wrong one only.
func corpus(t *testing.T) (all []device.Source) {
	tutorials, err := filepath.Glob("../../../tutorials/*.go")
	if err != nil || len(tutorials) == 0 {
		t.Fatalf("tutorials: %v, %v", tutorials, err)
	}
	for _, file := range tutorials {
		list, err := kernelTexts(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	pairs, err := os.ReadFile("../../../cmd/symmrepl/testdata/sanitizer/bounds.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range strings.Split(string(pairs), "\n== ")[1:] {
		title, _, _ := strings.Cut(pair, "\n")
		for _, is := range []string{"right", "wrong"} {
			text := variant.ReplaceAllStringFunc(pair, func(line string) string {
				if variant.FindStringSubmatch(line)[1] != is {
					return ""
				}
				return line
			})
			for i, part := range strings.Split(text, "`") {
				if i%2 == 1 && strings.Contains(part, "__global__") {
					all = append(all, device.Source{Name: title + ", " + is, Line: 1, Text: part})
				}
			}
		}
	}
	return all
}
