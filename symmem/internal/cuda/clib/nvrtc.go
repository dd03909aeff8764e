package clib

// #include <stdlib.h>
// #include "clib.h"
import "C"

import (
	"errors"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// NVRTC is the loaded compiler.
type NVRTC struct{ c *C.sy_nvrtc }

// LoadNVRTC opens the compiler, after its builtins library (empty for none). It stays loaded.
func LoadNVRTC(path, builtins string) (NVRTC, error) {
	p := C.CString(path)
	defer free(p)
	var b *C.char
	if builtins != "" {
		b = C.CString(builtins)
		defer free(b)
	}
	var why [whySize]C.char
	n := NVRTC{C.sy_nvrtc_load(p, b, &why[0], whySize)}
	if n.c == nil {
		return NVRTC{}, errors.New(C.GoString(&why[0]))
	}
	return n, nil
}

// Version is the compiler's version.
func (n NVRTC) Version() (major, minor int, err error) {
	var a, b C.int
	err = n.check(C.sy_nvrtc_version(n.c, &a, &b))
	return int(a), int(b), err
}

// Precompiles reports whether the compiler can make and use precompiled headers.
func (n NVRTC) Precompiles() bool { return C.sy_nvrtc_precompiles(n.c) != 0 }

// Request is one compilation.
type Request struct {
	Source, Name string
	Headers      [][2]string // name and text
	Options      []string
	Expressions  []string // kernels whose lowered names are wanted
}

// ErrSource is returned by Compile if the source does not compile; the log says why.
var ErrSource = errors.New("the source does not compile")

// Compile returns the cubin and the lowered names of the expressions, in their order, and the
// compiler's log.
func (n NVRTC) Compile(r Request) (cubin []byte, lowered []string, log string, err error) {
	var a arena
	defer a.free()
	var names, texts []string
	for _, h := range r.Headers {
		names, texts = append(names, h[0]), append(texts, h[1])
	}
	request := C.sy_request{
		source: a.string(r.Source), name: a.string(r.Name),
		headers: C.int(len(names)), header: a.strings(texts), header_name: a.strings(names),
		options: C.int(len(r.Options)), option: a.strings(r.Options),
		expressions: C.int(len(r.Expressions)), expression: a.strings(r.Expressions),
	}
	var result C.sy_result
	defer C.sy_result_free(&result)
	st := C.sy_nvrtc_compile(n.c, &request, &result)
	if result.log != nil {
		log = C.GoString(result.log)
	}
	if st.code == C.SY_NVRTC_COMPILATION {
		return nil, nil, log, ErrSource
	}
	if err := n.check(st); err != nil {
		return nil, nil, log, err
	}
	for _, s := range unsafe.Slice(result.lowered, result.lowereds) {
		lowered = append(lowered, C.GoString(s))
	}
	return C.GoBytes(result.cubin, C.int(result.size)), lowered, log, nil
}

func (n NVRTC) check(st C.sy_status) error {
	if st.code == 0 {
		return nil
	}
	text := C.GoString(C.sy_nvrtc_error_text(n.c, st.code))
	e := &device.DriverError{Call: C.GoString(st.call), Code: int(st.code), Name: text, Text: "the compiler failed"}
	switch text {
	case "NVRTC_ERROR_INVALID_OPTION":
		e.Hint = "this NVRTC is too old or too new for this GPU: set SYMMREPL_NVRTC to another one"
	case "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE":
		e.Hint = "libnvrtc-builtins must lie beside libnvrtc: set SYMMREPL_NVRTC to a folder with both"
	}
	return e
}

// arena is C memory that is freed together.
type arena struct{ all []unsafe.Pointer }

func (a *arena) string(s string) *C.char {
	c := C.CString(s)
	a.all = append(a.all, unsafe.Pointer(c))
	return c
}

// strings copies a list; nil for an empty one.
func (a *arena) strings(list []string) **C.char {
	if len(list) == 0 {
		return nil
	}
	// zeroed: the garbage collector inspects the value that a pointer replaces
	p := C.calloc(C.size_t(len(list)), C.size_t(unsafe.Sizeof((*C.char)(nil))))
	a.all = append(a.all, p)
	c := unsafe.Slice((**C.char)(p), len(list))
	for i, s := range list {
		c[i] = a.string(s)
	}
	return &c[0]
}

func (a *arena) free() {
	for _, p := range a.all {
		C.free(p)
	}
}
