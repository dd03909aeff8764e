package main

import (
	"fmt"
	"strings"
)

// largeCell returns a cell of the given size: functions, a type with methods, and loops.
func largeCell(bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, `
// step%[1]d takes one step.
func step%[1]d(list []float64, by map[string]int, name string) (total float64, err error) {
	for i, v := range list {
		if v > 0.5 && i%%2 == 0 {
			total += v * float64(i)
		} else if n, ok := by[name]; ok {
			total -= float64(n)
		}
	}
	if len(list) == 0 {
		return 0, fmt.Errorf("step %%d: nothing in %%s", %[1]d, name)
	}
	switch {
	case total > 100:
		total = math.Sqrt(total)
	case strings.HasPrefix(name, "x"):
		by[name]++
	}
	return total, nil
}
`, i)
	}
	return b.String()
}

// large prints how long a large cell takes in a session and in plain yaegi, alternating. Each round
// defines everything again, so that all of it is compiled each time.
func large(rounds int) error {
	fmt.Println("| cell | yaegi, ms | cells, ms | ratio |\n|---|---:|---:|---:|")
	for _, size := range []int{1 << 10, 10 << 10, 41 << 10} {
		src := largeCell(size)
		p := program{name: fmt.Sprintf("of %d KB", (len(src)+512)>>10), imports: `import ("fmt"; "math"; "strings")`, cell: src}
		if err := compare(p, rounds); err != nil {
			return err
		}
	}
	return nil
}
