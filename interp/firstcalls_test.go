package interp

import (
	"fmt"
	"strings"
	"testing"
)

// TestFirstCalls checks functions whose first calls come from several goroutines at once, while
// other cells are compiled.
func TestFirstCalls(t *testing.T) {
	const functions, goroutines = 40, 4
	var decls, calls strings.Builder
	for i := range functions {
		fmt.Fprintf(&decls, `
func step%[1]d(n int) (total int, err error) {
	add := func(k int) { total += k }
	for i := range n {
		if i%%2 == 0 {
			add(i)
		}
	}
	if n == %[1]d {
		return total, fmt.Errorf("step %%d", n)
	}
	return total, nil
}
func (s steps) step%[1]d() int { n, _ := step%[1]d(int(s)); return n }
`, i)
		fmt.Fprintf(&calls, "\t\tn%[1]d, err%[1]d := step%[1]d(%[1]d)\n\t\tsum += n%[1]d + steps(7).step%[1]d() + len(err%[1]d.Error())\n", i)
	}
	in := open(t, Options{})
	mustEval(t, in, "type steps int"+decls.String()+`
ready, sums := make(chan bool), make(chan int, `+fmt.Sprint(goroutines)+`)
`)
	mustEval(t, in, fmt.Sprintf(`for range %d {
	go func() {
		<-ready
		sum := 0
%s		sums <- sum
	}()
}
close(ready)`, goroutines, calls.String()))
	want := 0
	for i := range functions {
		for k := range i {
			if k%2 == 0 {
				want += k
			}
		}
		want += 12 + len(fmt.Sprint("step ", i))
	}
	for i := range 10 { // compiled while the goroutines run
		mustEval(t, in, fmt.Sprintf("func other%d(n int) string { return fmt.Sprint(n, %[1]d) }\nother%[1]d(3)", i))
	}
	for range goroutines {
		if got := mustEval(t, in, "<-sums"); got != fmt.Sprint(want) {
			t.Errorf("the functions return %s in all, not %d", got, want)
		}
	}
}
