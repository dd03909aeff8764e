// Package compilers names the C++ compilers of the cpu device: the one that built it into the
// program, and the one that compiles kernels while the program runs.
package compilers

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
)

// About names both, and says why the compiler of kernels is that one.
func About() string {
	if err := cpu.Supported(); err != nil {
		return err.Error()
	}
	kernels := "kernels on the cpu device have no compiler"
	if c, err := cpu.FindCXX(); err == nil {
		kernels = fmt.Sprintf("kernels on the cpu device are compiled by %s (%s)", c, c.Why)
	}
	return "built by " + cpu.BuiltBy() + "; " + kernels
}
