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

// ZigFlags returns further flags of zig, for a machine by Go's name: the oldest C library on which the
// library runs, and any processor of the machine. Without a target, zig compiles for the processor that
// it runs on and for the C library with which it finds other programs linked.
func ZigFlags(arch string) []string {
	return []string{"-target", map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch] + "-linux-gnu.2.28"}
}

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
