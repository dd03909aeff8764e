package ucx

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror=implicit-function-declaration
#cgo LDFLAGS: -ldl -lpthread
#include <stdlib.h>
#include "load.h"
#include "ucx.h"

static const void *transport(void) { return &net_ucx; }
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/symmrepl/symmrepl/internal/environ"
	// the C files include its transport.h
	_ "github.com/symmrepl/symmrepl/symmem/internal/net/proxy"
)

// Transport returns the provider's table of functions.
func Transport() unsafe.Pointer { return unsafe.Pointer(C.transport()) }

// Load opens the library at a path and returns its version. A process opens only one library; later
// calls return its version.
func Load(path string) (version string, err error) {
	if err := environ.Complete("UCX_HANDLE_ERRORS=none", "UCX_MEM_EVENTS=n", "UCX_LOG_LEVEL=fatal", "UCX_WARN_UNUSED_ENV_VARS=n"); err != nil {
		return "", err
	}
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	var v [32]C.char
	var why [C.NET_WHY]C.char
	if C.ucx_load(p, &v[0], &why[0]) == 0 {
		return "", errors.New(C.GoString(&why[0]))
	}
	return C.GoString(&v[0]), nil
}
