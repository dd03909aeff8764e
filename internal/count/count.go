// Package count writes numbers of things, as "1 call" and "4 calls".
package count

import "fmt"

// Of writes a number of things. The plural of noun is noun with an s.
func Of[N ~int | ~int64 | ~uint64 | ~uintptr](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
