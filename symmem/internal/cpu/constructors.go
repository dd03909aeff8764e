//go:build linux && (amd64 || arm64)

package cpu

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Code that runs when a library is loaded or unloaded would run outside of every kernel, where a
// fault ends the process and a loop never ends. On a GPU there is no such moment, and its compiler
// rejects the text; so does the cpu device.
const (
	dynamicWhy  = "dynamic initialization is not supported: the initializer of a variable outside of functions must be a constant expression, and constructors and destructors do not run"
	sharedWhy   = "initialization of shared memory is not supported: let a thread write it, and __syncthreads() before others read"
	resolverWhy = "a function cannot be chosen when it is loaded: ifunc is not supported"
)

// refuseConstructors rejects a library with such code. The error is a *device.CompileError.
func refuseConstructors(src device.Source, library []byte) error {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return err
	}
	relocations, err := relocationsOf(f)
	if err != nil {
		return err
	}
	if initializesShared(f) {
		return compileError(src, device.Diagnostic{Line: sharedLine(src.Text), Text: sharedWhy})
	}
	refused := func(function uint64, why string) error {
		return compileError(src, device.Diagnostic{Line: lineIn(f, function), Text: why})
	}
	for _, tag := range []elf.DynTag{elf.DT_INIT, elf.DT_FINI, elf.DT_INIT_ARRAY, elf.DT_FINI_ARRAY, elf.DT_PREINIT_ARRAY} {
		values, err := f.DynValue(tag)
		if err != nil {
			return err
		}
		for _, at := range values {
			if tag != elf.DT_INIT_ARRAY {
				return refused(target(relocations, at), dynamicWhy)
			}
			size, err := f.DynValue(elf.DT_INIT_ARRAYSZ)
			if err != nil {
				return err
			}
			for end := at + sum(size); at < end; at += 8 {
				if function := target(relocations, at); !initializesWatching(f, function) {
					return refused(function, dynamicWhy)
				}
			}
		}
	}
	for _, r := range relocations {
		if elf.R_TYPE64(r.Info) == relocationChosen {
			return refused(uint64(r.Addend), resolverWhy)
		}
	}
	return nil
}

// initializesShared reports whether a library has initial values for shared memory, or code that
// writes them once.
func initializesShared(f *elf.File) bool {
	for _, p := range f.Progs {
		if p.Type == elf.PT_TLS && p.Filesz > 0 {
			return true
		}
	}
	symbols, err := f.Symbols()
	return err == nil && slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) == elf.STT_TLS && strings.HasPrefix(s.Name, "_ZGV")
	})
}

var sharedDeclaration = regexp.MustCompile(`__shared__[^;=]*(=)?`)

// sharedLine returns the line of the first declaration of shared memory with a value, or else of
// the first one.
func sharedLine(text string) int {
	text = cudalex.Blank(text, onCPU)
	all := sharedDeclaration.FindAllStringSubmatchIndex(text, -1)
	i := max(0, slices.IndexFunc(all, func(at []int) bool { return at[2] >= 0 }))
	if len(all) == 0 {
		return 1
	}
	return 1 + strings.Count(text[:all[i][0]], "\n")
}

// target returns the target of a relocated word in a library, or the word's address if it has no
// relocation.
func target(relocations []elf.Rela64, at uint64) uint64 {
	for _, r := range relocations {
		if r.Off == at {
			return uint64(r.Addend)
		}
	}
	return at
}

func sum(values []uint64) (n uint64) {
	for _, v := range values {
		n += v
	}
	return n
}

// initializesWatching reports whether a function is the constructor that compilers add to watched
// code, to call __tsan_init.
func initializesWatching(f *elf.File, function uint64) bool {
	symbols, err := f.Symbols()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return s.Value == function && (s.Name == "_sub_I_00099_0" || s.Name == "tsan.module_ctor")
	})
}

// relocationsOf lists the relocations of a library.
func relocationsOf(f *elf.File) (list []elf.Rela64, err error) {
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, err
		}
		part := make([]elf.Rela64, len(data)/binary.Size(elf.Rela64{}))
		if err := binary.Read(bytes.NewReader(data), f.ByteOrder, part); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		list = append(list, part...)
	}
	return list, nil
}

// lineIn returns the first line of the snippet in the function at an address, for an inlined
// function that of the call; 1 if it is unknown.
func lineIn(f *elf.File, function uint64) int {
	symbols, err := f.Symbols()
	data, failed := f.DWARF()
	if err != nil || failed != nil {
		return 1
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Value != function {
			continue
		}
		for pc := s.Value; pc < s.Value+s.Size; pc++ {
			for _, at := range slices.Backward(positions(data, pc)) {
				if at.file == snippetFile && at.line > 0 {
					return at.line
				}
			}
		}
	}
	return 1
}
