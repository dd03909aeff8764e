package kernelfile

import (
	"fmt"
	"strconv"
	"strings"
)

// Arch is an architecture: "sm_90a" is {9, 0, 'a'}.
type Arch struct {
	Major, Minor int
	Suffix       byte // 'a': for exactly this one, 'f': for its family; 0 for none, or if the file does not say
}

// parseArch reads "sm_90", "sm_120f".
func parseArch(s string) (Arch, bool) {
	digits, ok := strings.CutPrefix(s, "sm_")
	var a Arch
	if ok && digits != "" && (digits[len(digits)-1] == 'a' || digits[len(digits)-1] == 'f') {
		a.Suffix = digits[len(digits)-1]
		digits = digits[:len(digits)-1]
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil {
		return Arch{}, false
	}
	a.Major, a.Minor = int(n/10), int(n%10)
	return a, true
}

// archOf is the architecture of a number such as 90.
func archOf(number int) Arch { return Arch{Major: number / 10, Minor: number % 10} }

func (a Arch) number() int { return 10*a.Major + a.Minor }

func (a Arch) String() string {
	s := fmt.Sprintf("sm_%d", a.number())
	if a.Suffix != 0 {
		s += string(a.Suffix)
	}
	return s
}

// runsOn reports whether a GPU runs the code. Machine code runs on GPUs of its major version from
// its minor version on; a driver compiles PTX for every later GPU. Code for exactly one architecture
// runs there alone. (CUDA C++ Programming Guide, "Compute Capabilities" and "Application
// Compatibility".)
func (im *Image) runsOn(gpu Arch) bool {
	code := im.arch
	same := code.Major == gpu.Major
	switch {
	case code.Suffix == 'a':
		return same && code.Minor == gpu.Minor
	case im.ptx && code.Suffix == 0:
		return code.number() <= gpu.number()
	}
	return same && code.Minor <= gpu.Minor
}

// before reports whether code that runs on a GPU is preferred to other code that does.
func (im *Image) before(other *Image) bool {
	if im.ptx != other.ptx {
		return other.ptx
	}
	if a, b := im.arch.number(), other.arch.number(); a != b {
		return a > b
	}
	return im.arch.Suffix != 0 && other.arch.Suffix == 0
}

// describe is "machine code for sm_90", "PTX for sm_75".
func (im *Image) describe() string {
	if im.ptx {
		return "PTX for " + im.arch.String()
	}
	return "machine code for " + im.arch.String()
}
