package interp

import "testing"

// TestGoroutineLiterals holds that a literal with arguments which a loop starts as a goroutine is not mixed up with that of another iteration.
func TestGoroutineLiterals(t *testing.T) {
	in := open(t, Options{})
	const cell = `ch, sum := make(chan int, 100), 0
for range 200 {
	for i := range 100 {
		go func(n int) { ch <- n * i }(10)
	}
	for range 100 {
		sum += <-ch
	}
}
sum`
	if got := mustEval(t, in, cell); got != "9900000" {
		t.Errorf("the goroutines sent %s in all, not 9900000", got)
	}
}
