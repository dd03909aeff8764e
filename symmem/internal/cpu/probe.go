package cpu

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Compiler returns the path of the C++ compiler for snippets: the one in SYMMREPL_CXX, or else the
// first of c++, g++ and clang++ in PATH. The error is a [*device.UnavailableError].
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

// CompilerName implements device.CompilerNamer.
func (d *cpu) CompilerName() string {
	path, err := Compiler()
	if err != nil {
		return "a C++ compiler"
	}
	return filepath.Base(path)
}

// The oldest compilers that distinguish volatile accesses when they call the functions of
// emu_hooks.h.
const (
	oldestGCC   = 11
	oldestClang = 14
)

// CanWatch returns nil if a compiler can compile watched kernels, and otherwise a
// [*device.UnavailableError].
func CanWatch(compiler string) error {
	clang, err := isClang(compiler)
	if err != nil {
		return err
	}
	out, err := exec.Command(compiler, "-dumpversion").Output()
	if err != nil {
		return doesNotRun(compiler, err)
	}
	name, oldest := "g++", oldestGCC
	if clang {
		name, oldest = "clang++", oldestClang
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldest {
		return &device.UnavailableError{
			Kind: "cpu", Why: fmt.Sprintf("kernels that are watched need %s %d or newer, and %s is %s", name, oldest, compiler, version),
			Hint: fmt.Sprintf("name g++ %d or clang++ %d, or newer, in SYMMREPL_CXX", oldestGCC, oldestClang),
		}
	}
	return nil
}

func isClang(compiler string) (bool, error) {
	version, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		return false, doesNotRun(compiler, err)
	}
	return bytes.Contains(version, []byte("clang")), nil
}

func doesNotRun(compiler string, err error) error {
	return &device.UnavailableError{Kind: "cpu", Why: "the C++ compiler " + compiler + " does not run: " + err.Error(), Hint: "name another one in SYMMREPL_CXX"}
}
