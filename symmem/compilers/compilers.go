// Package compilers names the C++ compilers of the cpu device: the one that built it into the program, and the one that compiles kernels while
// the program runs.
package compilers

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
)

// BuiltBy names the compiler that built the cpu device: "gcc 12.2.0".
func BuiltBy() string { return cpu.BuiltBy() }

// Kernels says which compiler is found for kernels, and why it is that one.
func Kernels() string {
	c, err := cpu.FindCXX()
	if err != nil {
		return "no compiler for kernels on the cpu device"
	}
	return fmt.Sprintf("kernels on the cpu device are compiled by %s (%s)", c, c.Why)
}
