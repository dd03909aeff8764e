package view

import (
	"fmt"
	"math"
	"time"
)

// step is the distance of ticks of which at most n have room in a span: 1, 2 or 5 times a power of
// ten nanoseconds.
func step(span int64, n int) int64 {
	power := int64(1)
	for {
		for _, by := range []int64{1, 2, 5} {
			if span/(by*power) < int64(n) {
				return by * power
			}
		}
		power *= 10
	}
}

// tick writes the time of a tick in the unit of the largest one, with the digits that tell it from
// the next: "2.5 ms".
func tick(at, largest, step int64) string {
	unit, name := time.Nanosecond, "ns"
	switch d := time.Duration(largest); {
	case d >= time.Second:
		unit, name = time.Second, "s"
	case d >= time.Millisecond:
		unit, name = time.Millisecond, "ms"
	case d >= time.Microsecond:
		unit, name = time.Microsecond, "µs"
	}
	digits := max(0, int(math.Ceil(math.Log10(float64(unit)/float64(step))-1e-9)))
	return fmt.Sprintf("%.*f %s", digits, float64(at)/float64(unit), name)
}
