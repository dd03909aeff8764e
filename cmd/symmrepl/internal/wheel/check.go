package main

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// newest is the C library of manylinux_2_28.
var newest = []int{2, 28}

// allowed are the libraries of manylinux_2_28 that the program may need. They are parts of the C
// library.
var allowed = []string{"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2", "libutil.so.1",
	"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

// machines are the names that wheels have for machines.
var machines = map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}

// check returns the machine that a program is for. It fails if the program needs more than
// manylinux_2_28 provides: another library, such as libstdc++, or a newer C library.
func check(program string) (machine string, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	machine, ok := machines[f.Machine]
	if !ok {
		return "", fmt.Errorf("%s: there are no wheels for %v", program, f.Machine)
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	for _, l := range libraries {
		if !slices.Contains(allowed, l) {
			return "", fmt.Errorf("%s needs %s, which manylinux_2_28 does not promise", program, l)
		}
	}
	needs, err := f.DynamicVersionNeeds()
	if err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	for _, n := range needs {
		for _, v := range n.Needs {
			number, ok := strings.CutPrefix(v.Dep, "GLIBC_")
			if !ok {
				return "", fmt.Errorf("%s needs version %s of %s, which is not one of the C library", program, v.Dep, n.Name)
			}
			if slices.Compare(numbers(number), newest) > 0 {
				return "", fmt.Errorf("%s needs %s of %s; manylinux_2_28 has %d.%d", program, v.Dep, n.Name, newest[0], newest[1])
			}
		}
	}
	return machine, nil
}

// numbers reads a version such as 2.2.5. A part that is not a number counts as larger than any number.
func numbers(version string) (list []int) {
	for _, field := range strings.Split(version, ".") {
		n, err := strconv.Atoi(field)
		if err != nil {
			n = 1 << 30
		}
		list = append(list, n)
	}
	return list
}
