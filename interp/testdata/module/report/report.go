// Package report-writing has a name that is not that of its folder's path alone.
package report

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"example.com/shop/price"
	things "example.com/shop/stock"
	"example.org/unit"
)

type size = things.Size

type named string

// All says what the other packages do.
func All() string {
	var b strings.Builder
	line := func(args ...any) { fmt.Fprintln(&b, args...) }
	line(things.Names, things.Log, things.Motto)
	t := price.New("cup", 2.5)
	line(t, t.Price(), *t)
	fmt.Fprintf(&b, "%T %+v %T\n", t, *t, t.Price)
	a, n := price.First()
	line(a, n, price.Shout("ok"), price.Shout(named("no")))
	g := things.Gift("card")
	line(g, things.Price(g))
	fmt.Fprintf(&b, "%T %v\n", g, reflect.TypeOf(g).PkgPath())
	var s size
	s[things.Small] = things.Large
	line(len(s), s, unit.Unit("box").Of(12), unit.Unit("box").Of(1))
	for _, p := range things.Pairs(map[named]int{"b": 2, "a": 1}) {
		line(p)
		fmt.Fprintf(&b, "%T %#v\n", p, p)
	}
	line(things.Pair[int, things.Item]{1, t.Item})
	things.Log = append(things.Log, "report")
	line(len(things.Log), cap(things.Log) > 2, counter(), counter())
	p := &things.Names[0]
	*p = "changed"
	line(things.Names)
	err := try(func() { things.Must("it") })
	line(err, errors.Is(err, things.ErrSoldOut))
	set := t.SetPrice
	set(7)
	line((*things.Item).String(&t.Item), things.Item.String(t.Item), fmt.Stringer(t.Item).String())
	switch v := any(t.Item).(type) {
	case price.Tag:
		line("tag", v)
	case things.Item:
		line("item", v.Name)
	}
	return b.String()
}

var calls int

func counter() int {
	calls++
	return calls
}

func try(f func()) (err error) {
	defer func() {
		err, _ = recover().(error)
	}()
	f()
	return nil
}
