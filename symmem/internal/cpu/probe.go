package cpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// CXX is a C++ compiler that is installed.
type CXX struct {
	Path string // of the program
	Zig  bool   // the program is zig, whose parts clang and ld.lld compile and link
	Why  string // it is this one: "named in SYMMREPL_CXX"
}

// ZiglangVariable names the folder of the Python package ziglang, zig's compiler. The command
// symmrepl of the Python package sets it if the environment has ziglang.
const ZiglangVariable = "SYMMREPL_ZIGLANG"

// FindCXX returns the compiler for snippets: the one in SYMMREPL_CXX, or else the first of c++,
// g++, clang++ and zig in PATH, or else that of the folder in [ZiglangVariable], or of the Python
// package ziglang beside that of symmrepl. The error is a [*device.UnavailableError].
func FindCXX() (CXX, error) {
	if named := os.Getenv("SYMMREPL_CXX"); named != "" {
		if path, err := exec.LookPath(named); err == nil {
			return newCXX(path, "named in SYMMREPL_CXX"), nil
		}
		return CXX{}, &device.UnavailableError{
			Kind: "cpu", Why: "no C++ compiler for kernels: SYMMREPL_CXX names " + named + ", which is no program",
			Hint: "name another one in SYMMREPL_CXX, or unset it",
		}
	}
	searched := []string{"c++", "g++", "clang++", "zig"}
	for _, name := range searched {
		if path, err := exec.LookPath(name); err == nil {
			return newCXX(path, "the first of "+strings.Join(searched, ", ")+" in PATH"), nil
		}
	}
	for _, folder := range []string{os.Getenv(ZiglangVariable), beside()} {
		if folder == "" {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(folder, "zig")); err == nil {
			return newCXX(path, "of the Python package ziglang; PATH has none of "+strings.Join(searched, ", ")), nil
		}
	}
	return CXX{}, &device.UnavailableError{
		Kind: "cpu", Why: "no C++ compiler for kernels (" + strings.Join(searched, ", ") + ")",
		Hint: "install g++ or clang++, or beside symmrepl the Python package ziglang; or name one in SYMMREPL_CXX",
	}
}

// beside returns the folder of ziglang if this program is bin/symmrepl of a Python package that was
// installed into the same folder.
func beside() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(program), "..", "..", "ziglang")
}

func newCXX(path, why string) CXX {
	return CXX{Path: path, Zig: filepath.Base(path) == "zig", Why: why}
}

// String returns the words of a command line: "/usr/bin/zig clang".
func (c CXX) String() string {
	if c.Zig {
		return c.Path + " clang"
	}
	return c.Path
}

// Name returns its name: "g++".
func (c CXX) Name() string { return filepath.Base(c.String()) }

// Command returns a call of the compiler.
func (c CXX) Command(arguments ...string) *exec.Cmd {
	if c.Zig {
		arguments = append([]string{"clang", "--target=" + zigTarget}, arguments...)
	}
	return exec.Command(c.Path, arguments...)
}

// Linker returns a call of zig's linker.
func (c CXX) Linker(arguments ...string) *exec.Cmd {
	return exec.Command(c.Path, append([]string{"ld.lld"}, arguments...)...)
}

// zigTarget is the machine for which zig compiles.
var zigTarget = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH] + "-linux-gnu"

// Version returns the version that the compiler prints. The error is a [*device.UnavailableError].
func (c CXX) Version() (string, error) {
	version, err := c.Command("--version").Output()
	if err != nil {
		return "", &device.UnavailableError{Kind: "cpu", Why: "the C++ compiler " + c.String() + " does not run: " + err.Error(),
			Hint: "name another one in SYMMREPL_CXX"}
	}
	return string(version), nil
}

// The oldest compilers that distinguish volatile accesses when they call the functions of
// emu_hooks.h.
const (
	oldestGCC   = 11
	oldestClang = 14
)

// CanWatch returns nil if the compiler can compile watched kernels, and otherwise a
// [*device.UnavailableError].
func (c CXX) CanWatch() error {
	about, err := c.Version()
	if err != nil {
		return err
	}
	return c.canWatch(about)
}

// canWatch is CanWatch of a compiler that prints this about itself.
func (c CXX) canWatch(about string) error {
	out, err := c.Command("-dumpversion").Output()
	if err != nil {
		return &device.UnavailableError{Kind: "cpu", Why: "the C++ compiler " + c.String() + " does not print its version: " + err.Error(),
			Hint: "name another one in SYMMREPL_CXX"}
	}
	name, oldest := "g++", oldestGCC
	if isClang(about) {
		name, oldest = "clang++", oldestClang
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldest {
		return &device.UnavailableError{
			Kind: "cpu", Why: fmt.Sprintf("kernels that are watched need %s %d or newer, and %s is %s", name, oldest, c, version),
			Hint: fmt.Sprintf("name g++ %d or clang++ %d, or newer, in SYMMREPL_CXX", oldestGCC, oldestClang),
		}
	}
	return nil
}

var clangNumber = regexp.MustCompile(`clang version (\d+)`)

// clangVersion returns the first number of clang's version, 0 if there is none.
func clangVersion(version string) int {
	m := clangNumber.FindStringSubmatch(version)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// isClang tells clang++, and zig's compiler, which is one, from g++ by what they print about
// themselves.
func isClang(version string) bool { return strings.Contains(version, "clang") }
