package interp

import (
	"strings"
	"testing"
)

// TestGoroutineLiterals checks that a function literal that a loop starts as a goroutine is not
// confused with that of another iteration.
func TestGoroutineLiterals(t *testing.T) {
	in := open(t, Options{})
	const cell = `ch, sum := make(chan int, 100), 0
for range 200 {
	for i := range 100 {
		START
	}
	for range 100 {
		sum += <-ch
	}
}
sum`
	for _, start := range []string{"go func(n int) { ch <- n * i }(10)", "f := func(n int) { ch <- n * i }; go f(10)", "f := func() { ch <- 10 * i }; go f()"} {
		if got := mustEval(t, in, strings.Replace(cell, "START", start, 1)); got != "9900000" {
			t.Errorf("%s: the goroutines sent %s in all, not 9900000", start, got)
		}
	}
}
