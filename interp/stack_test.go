package interp

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestStack checks that code of cells gets the stack of its own functions, not the interpreter's.
func TestStack(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, `import ("runtime"; "runtime/debug")
func g(x []int, i int) int {
	return x[i]
}
func f() (stack string) {
	defer func() {
		recover()
		stack = string(debug.Stack())
	}()
	return string(rune(g([]int{1}, 3)))
}
func into() string {
	buf := make([]byte, 1000)
	return string(buf[:runtime.Stack(buf, false)])
}`)
	// Parts that differ between machines.
	details := regexp.MustCompile(`^goroutine \d+|\t/.*/runtime/|(stack|panic)\.go:\d+`)
	const head = "# [running]:\n"
	const ofDebug = head + "runtime/debug.Stack()\n#debug/# +0x0\n"
	for i, c := range []struct{ cell, want string }{
		{"\nf()", ofDebug + "main.f.func1(...)\n\tcell[1]:8 +0x0\npanic(runtime error: index out of range [3] with length 1)\n## +0x0\n" +
			"main.g(...)\n\tcell[1]:3 +0x0\nmain.f(...)\n\tcell[1]:10 +0x0\nmain.main()\n\tcell[2]:2 +0x0\n"},
		{"into()", head + "main.into(...)\n\tcell[1]:14 +0x0\nmain.main()\n\tcell[3]:1 +0x0\n"},
		{"string(debug.Stack())", ofDebug + "main.main()\n\tcell[4]:1 +0x0\n"},
	} {
		r := evaluate(in, session.Cell{ID: i + 2, Source: c.cell})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		stack, err := strconv.Unquote(r.Value)
		if stack = details.ReplaceAllString(stack, "#"); err != nil || stack != c.want {
			t.Errorf("%s gives %q, want %q", c.cell, stack, c.want)
		}
	}
}

// TestLongStack checks that the middle of a long stack is left out.
func TestLongStack(t *testing.T) {
	in := open(t, Options{})
	got := mustEval(t, in, `import ("runtime/debug"; "strings")
func f(n int) string {
	if n > 0 {
		return f(n - 1)
	}
	return string(debug.Stack())
}
s := f(200)
strings.Count(s, "main.f(...)"), strings.Count(s, "...103 frames elided...\n")`)
	if want := "98, 1"; got != want {
		t.Errorf("the stack has %s, want %s", got, want)
	}
}
