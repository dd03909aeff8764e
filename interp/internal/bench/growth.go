package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	ours "github.com/symmrepl/symmrepl/interp"
)

// sessions lists the kinds of cells of which sessions are made. %d is the number of the cell.
var sessions = []struct{ name, cell string }{
	{"the same variable", "x := %d"},
	{"a new variable", "v%d := %d"},
	{"a new function", "func f%d(a int) int { return a + %d }"},
	{"the same function", "func f(a int) int { return a + %d }"},
	{"the same type", "type T struct{ A int }"},
	{"the same type with a method, and a variable of it",
		"type T struct{ A int }\nfunc (t T) Get() int { return t.A + %d }\nv := T{%d}\nv.Get()"},
}

// growth prints the time of a cell and the memory that it leaves in use, for each quarter of a
// session's cells.
func growth(cells int) error {
	quarter := max(cells/4, 1)
	fmt.Print("| each cell defines |")
	for i := range 4 {
		fmt.Printf(" ms to cell %d |", quarter*(i+1))
	}
	for i := range 4 {
		fmt.Printf(" bytes a cell to %d |", quarter*(i+1))
	}
	fmt.Println("\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, s := range sessions {
		in, err := ours.New(ours.Options{})
		if err != nil {
			return err
		}
		var times, bytes string
		cell := func(i int) error { return eval(in, strings.ReplaceAll(s.cell, "%d", strconv.Itoa(i))) }
		if err := cell(0); err != nil {
			return err
		}
		for i := range 4 {
			before := used(in)
			start := processorTime()
			for j := range quarter {
				if err := cell(1 + i*quarter + j); err != nil {
					return err
				}
			}
			times += fmt.Sprintf(" %.2f |", (processorTime()-start).Seconds()*1000/float64(quarter))
			bytes += fmt.Sprintf(" %d |", (used(in)-before)/int64(quarter))
		}
		fmt.Printf("| %s |%s%s\n", s.name, times, bytes)
	}
	return nil
}

// used returns the number of bytes in use after garbage collection. Freeing functions takes several
// steps: a collection finds that they are gone, a goroutine notes that, and the next cell drops
// what they used.
func used(in *ours.Interp) int64 {
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		eval(in, "0")
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
