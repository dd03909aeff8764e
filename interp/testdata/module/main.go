// A shop: a program of two files and several packages.
package main

import (
	"fmt"
	"math/rand"
	"os"

	"example.com/shop/private/p"
	"example.com/shop/private/q"
	"example.com/shop/report"
	"example.com/shop/stock"
)

// Item has the name of a type of package stock.
type Item struct {
	stock.Item
	shelf int
}

var shelves = count() + 1

func init() { fmt.Println("init of main.go", shelves, total) }

func main() {
	fmt.Print(report.All())
	it := Item{stock.Item{Name: "pen"}, 3}
	fmt.Printf("%+v %T %T\n", it, it, it.Item)
	fmt.Println(it, rand.New(rand.NewSource(1)).Intn(1) == 0, random())
	var s fmt.Stringer = it
	fmt.Println(s.String(), os.Args[1:])
	fmt.Println(p.Is(p.P{}), p.Is(q.Q{}), p.Is(q.Plain{}), p.Is(q.Both{}), p.Is(q.OnlyP{}))
	fmt.Println(p.Switch(p.P{}), p.Switch(q.Q{}), p.Switch(q.Plain{}))
	fmt.Println(q.NewBoth().Say(), p.X(q.NewBoth().P))
	fmt.Println(q.Is(p.P{}), q.Is(q.Q{}), q.Is(q.Plain{}), q.Is(q.OnlyP{}))
	defer func() {
		err := recover()
		fmt.Printf("%v %T\n", err, err)
		stock.Must("no such thing")
	}()
	stock.Must("nothing")
}
