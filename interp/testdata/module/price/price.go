// Package price has names that stock and main have too.
package price

import (
	. "strings"

	. "example.com/shop/stock"
)

type Tag struct {
	Item
	price float64
}

func (t Tag) Price() float64 { return t.price }

var first = "first of price"

func New(name string, p float64) *Tag {
	t := &Tag{Item{Name: name}, p}
	t.SetPrice(int(p * 100))
	return t
}

func First() (string, int) { return first, limit() }

func limit() int { return len(Names) + Small }

func init() { Log = append(Log, "price") }

// Shout is generic, in a file with dots.
func Shout[S ~string](s S) S { return S(ToUpper(string(s))) + S(Repeat("!", Small)) }
