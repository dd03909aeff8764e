package interp

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestStack holds that code of cells gets the stack of its own statements, not the interpreter's.
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
	goroutine := regexp.MustCompile(`^goroutine \d+ \[running\]:\n`)
	for i, c := range []struct{ cell, want string }{
		{"\nf()", "main.f()\n\tcell[1]:8 +0x0\npanic(runtime error: index out of range [3] with length 1)\nmain.g()\n\tcell[1]:3 +0x0\nmain.func()\n\tcell[2]:2 +0x0\n"},
		{"into()", "main.into()\n\tcell[1]:14 +0x0\nmain.func()\n\tcell[3]:1 +0x0\n"},
		{"string(debug.Stack())", "main.func()\n\tcell[4]:1 +0x0\n"},
	} {
		r := evaluate(in, session.Cell{ID: i + 2, Source: c.cell})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		stack, err := strconv.Unquote(r.Value)
		if head := goroutine.FindString(stack); err != nil || head == "" || stack[len(head):] != c.want {
			t.Errorf("%s gives %s, want %q", c.cell, r.Value, c.want)
		}
	}
}
