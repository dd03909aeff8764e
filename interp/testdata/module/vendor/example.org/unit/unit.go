// Package unit is of another module.
package unit

type Unit string

func (u Unit) Of(n int) string {
	if n == 1 {
		return "1 " + string(u)
	}
	return itoa(n) + " " + string(u) + "s"
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
