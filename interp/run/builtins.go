package run

import (
	"fmt"
	"os"
	"reflect"
)

// printArgs is the builtin print, which puts nothing between its arguments.
func printArgs(args ...any) {
	var b []byte
	for _, a := range args {
		b = fmt.Append(b, a)
	}
	os.Stderr.Write(b)
}

// runesOf returns the runes of a string and where they begin.
func runesOf(s string) (at []int, runes []rune) {
	at, runes = make([]int, 0, len(s)), make([]rune, 0, len(s))
	for i, r := range s {
		at, runes = append(at, i), append(runes, r)
	}
	return at, runes
}

// zero sets the variable that pointer points to to its zero value.
func zero(pointer any) { reflect.ValueOf(pointer).Elem().SetZero() }
