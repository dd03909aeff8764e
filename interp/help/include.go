package help

import (
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/reference"
)

// undeclared matches the messages of compilers of kernels about a name that no header declares:
// GCC, Clang and NVRTC, with and without the namespace symm.
var undeclared = regexp.MustCompile(`'(\w+)' (?:is not a member of '(symm)'|was not declared in this scope)|` +
	`no member named '(\w+)' in namespace '(symm)'|use of undeclared identifier '(\w+)'|` +
	`namespace "(symm)" has no member "(\w+)"|identifier "(\w+)" is undefined`)

// IncludeHint returns a hint for a message of a compiler of kernels about a name that is in a header that
// the kernel does not include.
func IncludeHint(msg string) string {
	m := undeclared.FindStringSubmatch(msg)
	if m == nil {
		return ""
	}
	name := strings.Join(m[1:], "")
	if inSymm := m[2] + m[4] + m[6]; inSymm != "" {
		name = "symm::" + m[1] + m[3] + m[7]
	}
	e := reference.Find(name)
	if e == nil {
		return ""
	}
	header := e.Source()
	switch folder, _, inFolder := strings.Cut(header, "/"); {
	case folder == "nccl" && inFolder:
		header = "nccl_device.h"
	case folder == "nvshmem" && inFolder:
		header = "nvshmem.h"
	case folder == "symm" || header == "built in":
		return ""
	}
	return name + " needs #include <" + header + ">"
}
