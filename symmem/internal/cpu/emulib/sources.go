package emulib

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels"
)

const (
	folder = "symmem/internal/cpu/emu"
	engine = "symmem/internal/net/proxy" // the headers of which the emulator includes
)

// Sources returns the files that the library is built of, headers too. module has the files of this
// module from its root on.
func Sources(module fs.FS) (files []kernels.File, err error) {
	for _, pattern := range []string{folder + "/*.[hSc]*", folder + "/include/*", engine + "/*.h"} {
		names, err := fs.Glob(module, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(module, name)
			if err != nil {
				return nil, err
			}
			files = append(files, kernels.File{Name: strings.TrimPrefix(name, "symmem/internal/"), Text: string(text)})
		}
	}
	return files, nil
}

// Flags are flags of every compiler.
var Flags = []string{"-shared", "-fPIC", "-std=c++20", "-O2", "-g1", "-w", "-fno-exceptions", "-fno-rtti", "-fno-omit-frame-pointer",
	"-fno-strict-aliasing"}

// ZigFlags are further flags of zig, which would otherwise compile for the processor that it runs on.
// zig builds the library of C++ once for each set of such flags.
var ZigFlags = []string{"-mcpu=baseline"}

// Unit returns the arguments behind the flags, with which a compiler writes the library to out, and
// what it reads from its standard input: one unit for all files, because most of the time goes into
// the headers of C++. from is the folder with the files.
func Unit(files []kernels.File, from, out string) (arguments []string, unit string) {
	var b strings.Builder
	arguments = []string{"-o", out, "-x", "c++", "-", "-x", "assembler-with-cpp"}
	for _, f := range files {
		switch name := filepath.Join(from, f.Name); {
		case path.Dir(f.Name) != "cpu/emu":
		case path.Ext(name) == ".cpp":
			fmt.Fprintf(&b, "#include %q\n", name)
		case path.Ext(name) == ".S":
			arguments = append(arguments, name)
		}
	}
	return slices.Concat(arguments, []string{"-x", "none", "-ldl", "-lm", "-lpthread", "-lrt"}), b.String()
}
