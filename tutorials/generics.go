//go:build ignore

// Generic functions and types in cells.
//
//	symmrepl run -n 4 tutorials/generics.go

// %%
import (
	"cmp"
	"maps"
	"slices"
)

func largest[T cmp.Ordered](list ...T) T {
	best := list[0]
	for _, x := range list {
		best = max(best, x)
	}
	return best
}

largest(3, 1, 2)

// %%
largest("a", "c", "b")

// %% A type with methods.
type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }

func (s *Stack[T]) Pop() (T, bool) {
	var none T
	if len(s.items) == 0 {
		return none, false
	}
	x := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return x, true
}

// %%
var s Stack[string]
for _, word := range strings.Fields("one two three") {
	s.Push(word)
}
s.Pop()

// %%
s

// %% Generic functions of the standard library.
counts := map[string]int{}
for r := range symm.WorldSize() {
	counts[fmt.Sprint("rank ", r%2)]++
}
names := slices.Sorted(maps.Keys(counts))
fmt.Println(names)
counts
