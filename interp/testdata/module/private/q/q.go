// Package q has the same names as package p, not exported.
package q

import "example.com/shop/private/p"

type Q struct{ p.P }

func (Q) m() string { return "q.m" }

type Plain struct{ x string }

func (Plain) m() string { return "plain.m" }

type Both struct {
	p.P
	Plain
}

func NewBoth() Both { return Both{p.NewP(3), Plain{"q.x"}} }

func (b Both) Say() string { return b.x + b.m() }

type OnlyP struct {
	p.P
	y int
}

type I interface{ m() string }

func Is(v any) bool { _, ok := v.(I); return ok }
