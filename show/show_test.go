package show

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// Types of a package other than main, like the types of libraries.
type (
	open struct {
		A int
		M map[string]int
	}
	closed struct {
		Name string
		Next *closed
		_    sync.Mutex
	}
	generic[T any] struct{ X T }
	loud           struct{}
)

func (loud) String() string { panic("too loud") }

// Values are shown as a session shows them; those of main's types are in the tests of exported
// programs.
func TestSprint(t *testing.T) {
	var none *open
	var list []any
	list = append(list, 1, "a", 2.5, nil, errors.New("e"), []byte{1})
	for _, c := range []struct {
		values []any
		want   string
	}{
		{nil, ""},
		{[]any{nil}, "nil"},
		{[]any{1, "a\n", true, 1.5, float32(0.1), 'x', 1i, uint8(7)}, `1, "a\n", true, 1.5, 0.1, 120, (0+1i), 7`},
		{[]any{list}, `[]any{1, "a", 2.5, nil, e, []uint8{1}}`},
		{[]any{Typed("[]byte", []byte{1}), []byte{1}}, "[]byte{1}, []uint8{1}"},
		{[]any{Typed("map[string][]byte", map[string][]byte{"b": {2}, "a": nil})}, `map[string][]byte{"a": []byte(nil), "b": []byte{2}}`},
		{[]any{Typed("*[]byte", &[]byte{1})}, "&[]byte{1}"},
		{[]any{Typed("func(x int) error", func(int) error { return nil })}, "func(x int) error"},
		{[]any{(func(int, ...string) (bool, error))(nil)}, "(func(int, ...string) (bool, error))(nil)"},
		{[]any{make(chan<- int), (<-chan any)(nil)}, "chan<- int, (<-chan any)(nil)"},
		{[]any{[2]struct {
			X int `k:"v"`
		}{{1}, {2}}}, `[2]struct{X int "k:\"v\""}{struct{X int "k:\"v\""}{X: 1}, struct{X int "k:\"v\""}{X: 2}}`},
		{[]any{open{1, map[string]int{"k": 2}}}, `show.open{A: 1, M: map[string]int{"k": 2}}`},
		{[]any{none, &open{}}, "(*show.open)(nil), (*show.open)(0x…)"},
		{[]any{&closed{Name: "n"}, []*closed{nil}}, "(*show.closed)(0x…), []*show.closed{(*show.closed)(nil)}"},
		{[]any{generic[int]{1}, generic[map[string]open]{}},
			"show.generic[int]{X: 1}, show.generic[map[string]show.open]{X: map[string]show.open(nil)}"},
		{[]any{loud{}}, "<String method panicked: too loud>"},
		{[]any{1500 * time.Microsecond, Held(time.Second), errors.New("wrong")}, "1.5ms, 1s, wrong"},
		{[]any{strings.Repeat("a", 1025)}, `"` + strings.Repeat("a", 1024) + `"… (1025 bytes)`},
	} {
		if got := Sprint(c.values...); got != c.want {
			t.Errorf("shown as\n%s, want\n%s", got, c.want)
		}
	}
}
