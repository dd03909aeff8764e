// Package count is internal to stock.
package count

var made int

// Next numbers names.
func Next(name string) string {
	made++
	return name + string(rune('0'+made))
}

// Made says how many there are.
func Made() int { return made }
