package generics_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// outcome is what a function returns, or how it panics, as text.
func outcome(f func() []any) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("panic: %v", v)
		}
	}()
	return fmt.Sprintf("%#v", f())
}

// same compares what two functions do.
func same(t *testing.T, what string, ours, theirs func() []any) {
	t.Helper()
	got, want := outcome(ours), outcome(theirs)
	if got != want {
		t.Fatalf("%s:\n ours   %s\n theirs %s", what, got, want)
	}
}

// sample gives a slice with room behind its end, which is not empty either; sometimes nil.
func sample[E any](r *rand.Rand, element func() E) []E {
	if r.IntN(8) == 0 {
		return nil
	}
	s := make([]E, r.IntN(20))
	for i := range s {
		s[i] = element()
	}
	return s[:r.IntN(len(s)+1)]
}

// whole shows a slice with what is behind its end.
func whole[E any](s []E) string {
	if s == nil {
		return "nil"
	}
	return fmt.Sprintf("%v len %d cap %d", s[:cap(s)], len(s), cap(s))
}

// copied gives a slice of the same length and capacity in another array.
func copied[E any](s []E) []E {
	if s == nil {
		return nil
	}
	out := make([]E, cap(s))
	copy(out, s[:cap(s)])
	return out[:len(s)]
}
