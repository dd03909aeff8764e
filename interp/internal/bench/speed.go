package main

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"time"

	ours "github.com/symmrepl/symmrepl/interp"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
)

// program is run by both interpreters: its declarations once, and then the cell as often as it is
// measured.
type program struct{ name, imports, decls, cell string }

var programs = []program{
	{"fib(24)", "", "func fib(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn fib(n-1) + fib(n-2)\n}", "fib(24)"},
	{"matrix product, 64 × 64", "", `func product(n int) float64 {
	a, b, c := make([][]float64, n), make([][]float64, n), make([][]float64, n)
	for i := 0; i < n; i++ {
		a[i], b[i], c[i] = make([]float64, n), make([]float64, n), make([]float64, n)
		for j := 0; j < n; j++ {
			a[i][j], b[i][j] = float64(i+j), float64(i-j)
		}
	}
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			sum := 0.0
			for k := 0; k < n; k++ {
				sum += a[i][k] * b[k][j]
			}
			c[i][j] = sum
		}
	}
	return c[1][2]
}`, "product(64)"},
	{"map, 100000 entries counted", "", `func count(n int) int {
	m := map[int]int{}
	for i := 0; i < n; i++ {
		m[i%1000]++
	}
	return len(m)
}`, "count(100000)"},
	{"strings, 20000 words", `import "strings"`, `func words(n int) int {
	var b strings.Builder
	for i := 0; i < n; i++ {
		b.WriteString("word ")
	}
	total := 0
	for _, w := range strings.Fields(b.String()) {
		if strings.HasPrefix(w, "wo") {
			total += len(w)
		}
	}
	return total
}`, "words(20000)"},
	{"bytes of a string, 200000", "", `func vowels(s string, n int) int {
	total := 0
	for i := 0; i < n; i++ {
		c := s[i%len(s)]
		if c == 'a' || c == 'e' {
			total++
		}
	}
	return total
}`, `vowels("a string of several letters", 200000)`},
	{"sort.Slice, 5000 elements", `import "sort"`, `func sorted(n int) int {
	list := make([]int, n)
	for i := 0; i < n; i++ {
		list[i] = i * 7919 % n
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	return list[10]
}`, "sorted(5000)"},
	{"quicksort, 20000 elements", "", `func quicksort(list []int) {
	if len(list) < 2 {
		return
	}
	pivot, left, right := list[len(list)/2], 0, len(list)-1
	for left <= right {
		for list[left] < pivot {
			left++
		}
		for list[right] > pivot {
			right--
		}
		if left <= right {
			list[left], list[right] = list[right], list[left]
			left++
			right--
		}
	}
	quicksort(list[:right+1])
	quicksort(list[left:])
}
func quick(n int) int {
	list := make([]int, n)
	for i := 0; i < n; i++ {
		list[i] = i * 7919 % n
	}
	quicksort(list)
	return list[10]
}`, "quick(20000)"},
	{"loop, 1000000 × s += i", "", `func loop(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i
	}
	return s
}`, "loop(1000000)"},
	{"the same loop outside of a function", "", "var s int", "for i := 0; i < 1000000; i++ {\n\ts += i\n}"},
	{"100000 calls of a function", "", `func add(a, b int) int { return a + b }
func calls(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s = add(s, i)
	}
	return s
}`, "calls(100000)"},
	{"100000 calls of a method", "", `type counter struct{ n int }
func (c *counter) add(i int) { c.n += i }
func methods(n int) int {
	c := &counter{}
	for i := 0; i < n; i++ {
		c.add(i)
	}
	return c.n
}`, "methods(100000)"},
	{"100000 calls of a closure", "", `func closures(n int) int {
	s := 0
	add := func(i int) { s += i }
	for i := 0; i < n; i++ {
		add(i)
	}
	return s
}`, "closures(100000)"},
}

// speed prints the times of programs in a session and in plain yaegi.
func speed(rounds int) error {
	fmt.Println("| program | yaegi, ms | cells, ms | ratio |\n|---|---:|---:|---:|")
	for _, p := range programs {
		if err := compare(p, rounds); err != nil {
			return err
		}
	}
	return nil
}

// compare prints the times of a program in plain yaegi and in a session. The runs alternate, so
// that both see the same machine.
func compare(p program, rounds int) error {
	plain, err := plainly(p)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	cells, err := inCells(p)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	var best [2]time.Duration
	for range rounds {
		for i, run := range []func() error{plain, cells} {
			d, err := timed(run)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	fmt.Printf("| %s | %s | %s | %.2f |\n", p.name, ms(best[0]), ms(best[1]), best[1].Seconds()/best[0].Seconds())
	return nil
}

// timed returns the processor time of f, which does not depend on the machine's load. Earlier
// garbage does not count.
func timed(f func() error) (time.Duration, error) {
	runtime.GC()
	start := processorTime()
	err := f()
	return processorTime() - start, err
}

// processorTime returns the processor time that the process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()*1000) }

// plainly prepares a program for plain yaegi.
func plainly(p program) (func() error, error) {
	y := interp.New(interp.Options{})
	if err := y.Use(stdlib.Symbols); err != nil {
		return nil, err
	}
	for _, src := range []string{p.imports, p.decls} {
		if _, err := y.Eval(src); err != nil {
			return nil, err
		}
	}
	return func() error {
		_, err := y.Eval(p.cell)
		return err
	}, nil
}

// inCells prepares a program for a session.
func inCells(p program) (func() error, error) {
	in, err := ours.New(ours.Options{})
	if err != nil {
		return nil, err
	}
	run := func(src string) error { return eval(in, src) }
	return func() error { return run(p.cell) }, run(p.imports + "\n" + p.decls)
}

// eval runs a cell.
func eval(in *ours.Interp, src string) error {
	if r := in.Eval(context.Background(), session.Cell{ID: 1, Source: src}); r.Err != nil {
		return r.Err
	}
	return nil
}
