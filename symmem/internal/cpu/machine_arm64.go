//go:build linux

package cpu

import "debug/elf"

// machineFlags are flags of both compilers for this machine. No function of libgcc is called for an
// atomic operation, as libgcc has a constructor that looks for the processor's instructions; return
// addresses are not signed, so that frames have them; a product and a sum are not contracted, so
// that results are those of x86-64; the processor does not report a division by zero; and the run
// time writes the table of addresses.
var machineFlags = []string{
	"-mno-outline-atomics", "-mbranch-protection=none", "-ffp-contract=off", "-fsanitize=integer-divide-by-zero", "-Wl,-z,norelro",
}

// gccFlags are flags of g++ for this machine: a guard page of a stack has 4 KiB or more; shared
// memory is addressed by descriptors; and the traps of different lines, a division among them, stay
// apart.
var gccFlags = []string{"--param=stack-clash-protection-guard-size=12", "-mtls-dialect=desc", "-fno-crossjumping", "-fno-tree-tail-merge"}

// relocationChosen is the kind of relocation by which a function is chosen when it is loaded.
const relocationChosen = uint32(elf.R_AARCH64_IRELATIVE)

// undefinedDivision reports whether the processor computes a division by zero without a fault.
const undefinedDivision = true
