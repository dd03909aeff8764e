// Package p has what is not exported, and asks for it.
package p

import (
	"path/filepath"
	"runtime"
	"strconv"
)

type I interface{ m() string }

type P struct{ x int }

func (P) m() string { return "p.m" }

func Is(v any) string {
	if i, ok := v.(I); ok {
		return i.m()
	}
	return "no"
}

func X(v P) int { return v.x }

func Switch(v any) string {
	switch v := v.(type) {
	case I:
		return v.m()
	}
	return "other"
}

func NewP(x int) P { return P{x} }

// Where says where it is.
func Where() []string {
	pc, file, line, _ := runtime.Caller(0)
	return []string{runtime.FuncForPC(pc).Name(), filepath.Base(file) + ":" + strconv.Itoa(line)}
}
