package cpu

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// The compiler is the one that the user names, or the first in PATH, or that of the Python package
// ziglang.
func TestFindCXX(t *testing.T) {
	folder := t.TempDir()
	program := func(names ...string) string {
		dir := filepath.Join(append([]string{folder}, names[:len(names)-1]...)...)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, names[len(names)-1])
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gcc, zig, ziglang, named := program("gcc", "g++"), program("zig", "zig"), program("ziglang", "zig"), program("named", "cl")
	program("both", "clang++")
	both := program("both", "c++")
	for _, c := range []struct{ cxx, path, ziglang, want, why string }{
		{"", "gcc", "ziglang", gcc, "in PATH"},
		{"", "both", "ziglang", both, "in PATH"},
		{"", "zig", "", zig + " clang", "in PATH"},
		{"", "none", "ziglang", ziglang + " clang", "of the Python package ziglang"},
		{named, "gcc", "ziglang", named, "named in SYMMREPL_CXX"},
		{ziglang, "gcc", "", ziglang + " clang", "named in SYMMREPL_CXX"},
		{"g++", "gcc", "", gcc, "named in SYMMREPL_CXX"},
		{"", "none", "none", "", "no C++ compiler for kernels (c++, g++, clang++, zig)"},
		{"", "none", "", "", "the Python package ziglang"},
		{filepath.Join(folder, "absent"), "gcc", "ziglang", "", "no program"},
	} {
		t.Setenv("SYMMREPL_CXX", c.cxx)
		t.Setenv("PATH", filepath.Join(folder, c.path))
		t.Setenv(ZiglangVariable, filepath.Join(folder, c.ziglang))
		got, err := FindCXX()
		var missing *device.UnavailableError
		switch {
		case c.want == "" && (!errors.As(err, &missing) || !strings.Contains(err.Error()+missing.Hint, c.why)):
			t.Errorf("%+v: %v", c, err)
		case c.want != "" && (err != nil || got.String() != c.want || !strings.Contains(got.Why, c.why)):
			t.Errorf("%+v: %v, %q, %v", c, got, got.Why, err)
		}
	}
}
