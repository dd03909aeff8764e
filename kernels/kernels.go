package kernels

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed */*.cu */*.cuh include/*.h include/symm/*.cuh include/nccl/*.h include/nvshmem/*.h include/c/*.h include/cuda/* include/toolkit/*.h include/library/* include/library/cuda/std/*
var sources embed.FS

// File is a source text.
type File struct {
	Name string // as in #include "Name"
	Text string
}

const include, cLibrary, library, toolkit = "include/", "include/c/", "include/library/", "include/toolkit/"

// Headers returns the headers that a user's snippet can include without a file, on every device:
// symm.cuh, nccl_device.h and nvshmem.h with their parts, and cuda/atomic.
func Headers() []File {
	return under(include, "*.cuh", "symm/*.cuh", "*.h", "nccl/*.h", "nvshmem/*.h", "cuda/*")
}

// LibraryHeaders returns headers that a snippet can include on every device and that have names of
// C++ or CUDA headers.
func LibraryHeaders() []File { return under(library, "[a-z]*[a-z]", "*/*.h", "cuda/std/*") }

// ToolkitHeaders returns headers that stand in for headers of CUDA's toolkit with the same names:
// cuda_fp16.h and others. A snippet can include them on every device. If the toolkit is installed,
// the snippet gets the toolkit's own headers, which declare more.
func ToolkitHeaders() []File { return under(toolkit, "*.h") }

// under returns the files of a folder that match, with names relative to it.
func under(folder string, patterns ...string) []File {
	var files []File
	for _, pattern := range patterns {
		files = append(files, read(folder+pattern)...)
	}
	for i := range files {
		files[i].Name = strings.TrimPrefix(files[i].Name, folder)
	}
	return files
}

// CHeaders returns C's headers that a snippet may include on every device. The compilers know the
// functions that device code uses without a declaration; NVRTC lacks the types of stdint.h, so it
// gets that header's text ahead of every snippet.
func CHeaders() []File {
	files := under(cLibrary, "stdint.h")
	for _, name := range []string{"stddef.h", "cstddef", "stdio.h", "cstdio", "assert.h", "cassert", "math.h", "cmath"} {
		files = append(files, File{Name: name})
	}
	return files
}

// BuiltinHeaders returns the headers that the operations' sources can include: Headers and the
// operations' own headers.
func BuiltinHeaders() []File {
	files := Headers()
	for _, f := range read("*/*.cuh") {
		if !strings.HasPrefix(f.Name, include) {
			files = append(files, f)
		}
	}
	return files
}

// Files returns the operations' sources, named FOLDER/OPERATION.cu.
func Files() []File { return read("*/*.cu") }

func read(pattern string) []File {
	names, err := fs.Glob(sources, pattern)
	if err != nil {
		panic(err) // the patterns are well-formed
	}
	var files []File
	for _, n := range names {
		if info, err := fs.Stat(sources, n); err == nil && info.IsDir() {
			continue
		}
		text, err := sources.ReadFile(n)
		if err != nil {
			panic(err) // Glob found it
		}
		files = append(files, File{n, string(text)})
	}
	return files
}

// Operation returns the name of a source's kernels without the dtype.
func (f File) Operation() string { return strings.TrimSuffix(path.Base(f.Name), ".cu") }

// dtype returns the element type that a suffix of a kernel's name stands for, or "" if it stands
// for none.
func dtype(suffix string) string {
	switch suffix {
	case "f16", "bf16", "i8", "u8", "i32", "u32", "i64", "u64":
		return "symm::" + suffix
	case "f8e4m3", "f8e5m2":
		return "symm::calculate::" + suffix
	case "f32":
		return "float"
	case "f64":
		return "double"
	}
	return ""
}

// Source returns the text that NVRTC compiles for the built-in kernel of this name: the operation's
// file, restricted to the kernel's dtype if it has one, and to groups of the given number of ranks
// unless that is 0. Different compilation units have different Names.
func Source(kernel string, ranks int) (File, bool) {
	op, name, defined := kernel, kernel, ""
	if i := strings.LastIndexByte(kernel, '_'); i >= 0 && dtype(kernel[i+1:]) != "" && len(read("*/"+kernel+".cu")) == 0 {
		op = kernel[:i]
		defined += "#define SYMM_ONLY(M) M(" + dtype(kernel[i+1:]) + ", " + kernel[i+1:] + ")\n"
	}
	if ranks > 0 {
		name += fmt.Sprintf("-%d", ranks)
		defined += fmt.Sprintf("#define SYMM_RANKS %d\n", ranks)
	}
	file := op + ".cu"
	found := read("*/" + file)
	if len(found) != 1 {
		return File{}, false
	}
	return File{name + ".cu", defined + "#line 1 \"" + file + "\"\n" + found[0].Text}, true
}
