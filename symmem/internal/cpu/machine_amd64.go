//go:build linux

package cpu

import "debug/elf"

// machineFlags are flags of both compilers for this machine.
var machineFlags []string

// gccFlags are flags of g++ for this machine. Shared memory is addressed by the function of
// emu_shared.S.
var gccFlags = []string{"-mtls-dialect=gnu"}

// relocationChosen is the kind of relocation by which a function is chosen when it is loaded.
const relocationChosen = uint32(elf.R_X86_64_IRELATIVE)

// undefinedDivision reports whether the processor computes a division by zero without a fault.
const undefinedDivision = false
