//go:build linux && amd64

package builtin

/*
#cgo CXXFLAGS: -std=c++20 -O2 -fno-exceptions -fno-rtti -fno-omit-frame-pointer -fno-strict-aliasing -fvisibility=hidden
#cgo CXXFLAGS: -Wno-unknown-pragmas -I${SRCDIR}/../emu/include -I${SRCDIR}/../../../../kernels/include -I${SRCDIR}/../../../../kernels
const void* symm_builtin_entries(void);
*/
import "C"

import (
	_ "github.com/symmrepl/symmrepl/kernels" // so that a change of the sources rebuilds this package
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
)

// Load returns the module of the operations.
func Load() *emu.Module { return emu.Builtin(C.symm_builtin_entries()) }
