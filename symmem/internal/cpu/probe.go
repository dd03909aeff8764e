package cpu

import (
	"os"
	"os/exec"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Compiler returns the path of the C++ compiler that snippets are compiled by, or a [*device.UnavailableError]: the one that SYMMREPL_CXX names, or else the
// first of c++, g++ and clang++ in PATH.
func Compiler() (string, error) {
	candidates := []string{"c++", "g++", "clang++"}
	if cxx := os.Getenv("SYMMREPL_CXX"); cxx != "" {
		candidates = []string{cxx}
	}
	for _, name := range candidates {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", &device.UnavailableError{
		Kind: "cpu", Why: "no C++ compiler for kernels (" + strings.Join(candidates, ", ") + ")",
		Hint: "install g++ or clang++, or name one in SYMMREPL_CXX",
	}
}
