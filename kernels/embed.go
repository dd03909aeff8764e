// Package kernels holds the device code: the headers that kernels see and one .cu file per operation.
//
// These sources are the only implementation of every operation. The cuda device compiles them by NVRTC when
// an operation is first used, some for each size of a group; the cpu device has them compiled into the binary
// by the host's C++ compiler. What differs between the two stands behind SYMM_CPU, nearly all of it in
// include/symm.cuh.
//
// A built-in kernel is extern "C" and takes one struct by value, whose first member is symm::Context if the
// kernel waits; symmem holds the same struct in Go. It ends with SYMM_KERNEL(name), which registers it on
// the cpu device. A file named op.cu holds the kernel op, or one kernel op_DTYPE for each dtype.
package kernels

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed include/*.cuh
var headers embed.FS

//go:embed *.cu
var sources embed.FS

// File is a source text.
type File struct {
	Name string // as in #include "Name"
	Text string
}

// Headers returns the headers that built-in kernels include. A user's snippet sees symm.cuh, which includes
// nothing.
func Headers() []File { return read(headers, "include/*.cuh") }

// Files returns the operations' sources.
func Files() []File { return read(sources, "*.cu") }

func read(fsys embed.FS, pattern string) []File {
	names, err := fs.Glob(fsys, pattern)
	if err != nil {
		panic(err) // the patterns are constants
	}
	var files []File
	for _, n := range names {
		text, err := fsys.ReadFile(n)
		if err != nil {
			panic(err) // Glob found it
		}
		files = append(files, File{path.Base(n), string(text)})
	}
	return files
}

// dtypes are the suffixes of kernels and the element types in the sources.
var dtypes = map[string]string{
	"f16": "symm::f16", "bf16": "symm::bf16", "f32": "float", "f64": "double",
	"i8": "symm::i8", "u8": "symm::u8", "i32": "symm::i32", "u32": "symm::u32", "i64": "symm::i64", "u64": "symm::u64",
}

// Source returns what NVRTC has to compile for the built-in kernel of this name: the operation's file, for
// the kernel's dtype alone if it has one, and for groups of so many ranks unless that is 0. The Name of the result
// tells compilation units apart.
func Source(kernel string, ranks int) (File, bool) {
	op, dtype := kernel, ""
	if i := strings.LastIndexByte(kernel, '_'); i >= 0 && dtypes[kernel[i+1:]] != "" {
		op, dtype = kernel[:i], kernel[i+1:]
	}
	text, err := sources.ReadFile(op + ".cu")
	if err != nil {
		return File{}, false
	}
	name, defined := op, ""
	if dtype != "" {
		name = kernel
		defined += "#define SYMM_ONLY(M) M(" + dtypes[dtype] + ", " + dtype + ")\n"
	}
	if ranks > 0 {
		name += fmt.Sprintf("-%d", ranks)
		defined += fmt.Sprintf("#define SYMM_RANKS %d\n", ranks)
	}
	return File{name + ".cu", defined + "#line 1 \"" + op + ".cu\"\n" + string(text)}, true
}
