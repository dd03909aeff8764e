// Package environ sets environment variables while other threads may read them.
//
// os.Setenv also calls the C library's setenv, which frees the array of all variables when it adds one.
// Libraries such as NVRTC, NCCL and UCX read variables in threads of their own, and crash if they read
// the array meanwhile. A process that loads such a library sets variables by this package.
package environ

/*
#include <stdlib.h>
extern char **environ;
*/
import "C"

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// current is the C library's variable with the array of all entries, NAME=VALUE. The array ends with nil.
var current = (*unsafe.Pointer)(unsafe.Pointer(&C.environ))

// setting is held while a variable is set. It guards array.
var setting sync.Mutex

// array is the latest array that add has made, with room for more entries.
var array []*entry

// entry is the first byte of NAME=VALUE, which ends with a zero byte.
type entry = C.char

// Setenv is os.Setenv, but threads of C libraries may read the environment meanwhile. What a new variable
// takes is never freed.
func Setenv(name, value string) error {
	setting.Lock()
	defer setting.Unlock()
	if name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value, "\x00") { // else os.Setenv refuses it
		if !add(name, value) {
			return os.NewSyscallError("setenv", syscall.ENOMEM)
		}
	}
	return os.Setenv(name, value) // replaces the value of an entry in its place
}

// Complete adds settings, NAME=VALUE, where existing variables take precedence.
func Complete(settings ...string) error {
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// add adds a variable, unless there is one of its name; it fails if there is no memory. A thread may read
// the variables meanwhile: the entry comes behind the last one, and an array that is full stays as it is
// beside one of twice the size. setting is held.
func add(name, value string) bool {
	all := entries()
	for _, entry := range all {
		if strings.HasPrefix(C.GoString(entry), name+"=") {
			return true
		}
	}
	n := len(all)
	if len(array) < n+2 || atomic.LoadPointer(current) != unsafe.Pointer(&array[0]) {
		grown := (**entry)(C.calloc(C.size_t(2*n+2), C.size_t(unsafe.Sizeof(array[0]))))
		if grown == nil {
			return false
		}
		array = unsafe.Slice(grown, 2*n+2)
		copy(array, all)
	}
	array[n+1] = nil
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&array[n])), unsafe.Pointer(C.CString(name+"="+value)))
	atomic.StorePointer(current, unsafe.Pointer(&array[0]))
	return true
}

// entries returns the entries of the environment, in the C library's memory.
func entries() []*entry {
	first := (**entry)(atomic.LoadPointer(current))
	if first == nil {
		return nil
	}
	n := 0
	for at := first; *at != nil; at = (**entry)(unsafe.Add(unsafe.Pointer(at), unsafe.Sizeof(*at))) {
		n++
	}
	return unsafe.Slice(first, n)
}
