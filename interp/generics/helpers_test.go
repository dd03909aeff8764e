package generics_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// outcome returns the results of a function, or its panic, as text.
func outcome(f func() []any) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("panic: %v", v)
		}
	}()
	return fmt.Sprintf("%#v", f())
}

// same compares the outcomes of two functions.
func same(t *testing.T, what string, ours, theirs func() []any) {
	t.Helper()
	got, want := outcome(ours), outcome(theirs)
	if got != want {
		t.Fatalf("%s:\n ours   %s\n theirs %s", what, got, want)
	}
}

// sample returns a slice whose capacity exceeds its length, with values in the unused part;
// sometimes nil.
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

// whole returns a slice as text, including the elements up to its capacity.
func whole[E any](s []E) string {
	if s == nil {
		return "nil"
	}
	return fmt.Sprintf("%v len %d cap %d", s[:cap(s)], len(s), cap(s))
}

// copied returns a slice of the same length and capacity in another array.
func copied[E any](s []E) []E {
	if s == nil {
		return nil
	}
	out := make([]E, cap(s))
	copy(out, s[:cap(s)])
	return out[:len(s)]
}
