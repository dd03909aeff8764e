//go:build linux && (amd64 || arm64)

package cpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Zig is clang++ and LLVM's linker in one program that needs nothing else. Kernels do not need the
// part that imitates c++: before it links the first library it compiles start files and run-time
// functions for a minute, keeps a cache of its own, and adds code to each library that would run when
// it is loaded. It makes only the emulator, if no wheel brings it, because that needs the library of
// C++. The two parts behind it, clang and ld.lld, take a tenth of a second for a small kernel.
// Functions that libgcc has and clang calls, for the division of 128-bit integers and conversions of
// _Float16, are not there: kernels that need them are not linked.

var (
	installedDir = regexp.MustCompile(`(?m)^InstalledDir: (.*)$`)
	libcFile     = regexp.MustCompile(`(?m) (/\S*)/libc(?:\.so\.6|-2\.\d+\.so)$`)
)

// zigBehind returns the path of zig if a compiler that has printed this about itself is zig's, and
// otherwise "".
func zigBehind(version string) string {
	m := installedDir.FindStringSubmatch(version)
	if m == nil {
		return ""
	}
	path := filepath.Join(m[1], "zig")
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// linkByZig is link with zig's linker.
func (c *compiler) linkByZig(src device.Source, out string, options, objects []string) error {
	folder, err := libcFolder()
	if err != nil {
		return err
	}
	arguments := slices.Concat([]string{"-shared", "-z", "defs", "-z", "norelro", "-Bsymbolic", "--color-diagnostics=never", "-o",
		out}, options, objects,
		[]string{filepath.Join(folder, "libc.so.6"), filepath.Join(folder, "libm.so.6")})
	return c.wait(src, "", out, c.cxx.Linker(arguments...))
}

// zigCXX returns a call of the part of zig that imitates c++, with zig's cache in folder. It takes a
// minute or two.
func (c CXX) zigCXX(folder string, arguments ...string) *exec.Cmd {
	command := exec.Command(c.Path, append([]string{"c++"}, arguments...)...)
	command.Env = append(os.Environ(), "ZIG_GLOBAL_CACHE_DIR="+folder, "ZIG_LOCAL_CACHE_DIR="+folder)
	return command
}

// libcFolder returns the folder of the C library that this process runs with, which is the one that
// kernels call.
func libcFolder() (string, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return "", err
	}
	m := libcFile.FindSubmatch(maps)
	if m == nil {
		return "", &device.UnavailableError{Kind: "cpu",
			Why:  "zig's linker needs the C library, and this process has none that is called libc.so.6",
			Hint: "name g++ or clang++ in SYMMREPL_CXX"}
	}
	return string(m[1]), nil
}
