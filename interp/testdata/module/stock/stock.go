// Package stock has types, methods, generics and variables that others use.
package stock

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sort"

	"example.com/shop/stock/internal/count"
)

// Item is a thing that is sold.
type Item struct {
	Name  string
	price int
}

func (i Item) String() string { return fmt.Sprintf("<%s %d>", i.Name, i.price) }

// SetPrice changes what only this package may.
func (i *Item) SetPrice(p int) { i.price = p }

// Priced is an interface of this package.
type Priced interface {
	fmt.Stringer
	price() int
}

type gift struct{ Item }

func (gift) price() int { return 0 }

// Gift returns a value of a type that is not exported.
func Gift(name string) Priced { return gift{Item{Name: name}} }

// Price asks an interface by a method that is not exported.
func Price(p Priced) int { return p.price() }

// ErrSoldOut is compared by others.
var ErrSoldOut = errors.New("sold out")

// The variables are initialised in the order in which they need one another.
var (
	Names  = sorted(first)
	first  = []string{"nib", "ink", second}
	second = count.Next("pad")
)

//go:embed motto.txt
var Motto string

func init() { Log = append(Log, "stock") }

// Log is changed by other packages.
var Log []string

func sorted(names []string) []string {
	names = slices.Clone(names)
	sort.Strings(names)
	return names
}

const (
	Small = iota + 1
	Large
	limit = 1 << 4
)

// Size has constants that others use as the lengths of arrays.
type Size [Large]int

// Pair is generic, and has a method that uses what is not exported.
type Pair[K comparable, V any] struct {
	Key K
	Val V
}

func (p Pair[K, V]) String() string { return fmt.Sprint(describe(p.Key), "=", describe(p.Val)) }

func describe[T any](v T) string { return fmt.Sprintf("%v(%d)", v, limit) }

// Pairs makes pairs of a map, in the order of its keys.
func Pairs[K ~string, V any](m map[K]V) (list []Pair[K, V]) {
	for k, v := range m {
		list = append(list, Pair[K, V]{k, v})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Key < list[j].Key })
	return list
}

// Must panics.
func Must(name string) {
	panic(fmt.Errorf("%s: %w", name, ErrSoldOut))
}
