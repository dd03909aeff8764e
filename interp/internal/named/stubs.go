package named

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// A method of a type is machine code that gets a receiver and arguments but, unlike a closure, no
// context. So there is a fixed number of stubs; each finds its closure by the stub's number and
// jumps to it. They are in stubs_*.s.

// MaxMethods is the maximum number of methods of all types in a process; methods of values count
// twice.
const MaxMethods = 65536

const stubSize = 16

var (
	closures [MaxMethods]unsafe.Pointer // the closure that each stub calls

	mu   sync.Mutex
	used int   // number of stubs ever used
	free []int // the stubs that are free again
)

// stub allocates a stub that calls f and returns its number.
func stub(f reflect.Value) (number int, err error) {
	mu.Lock()
	defer mu.Unlock()
	switch n := len(free); {
	case n > 0:
		number, free = free[n-1], free[:n-1]
	case used == MaxMethods:
		return 0, fmt.Errorf("types of cells have more than %d methods in all; restart", MaxMethods)
	default:
		number = used
		used++
	}
	closures[number] = code(f.Interface())
	return number, nil
}

// code returns the data word of a function in an interface.
func code(f any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&f))[1] }

// stubCode returns the address of a stub's code.
func stubCode(number int) unsafe.Pointer { return unsafe.Add(stubsAddress(), number*stubSize) }

// release frees stubs whose methods are no longer called.
func release(numbers []int) {
	mu.Lock()
	defer mu.Unlock()
	for _, i := range numbers {
		closures[i] = nil
	}
	free = append(free, numbers...)
}

// stubsAddress is implemented in assembly, because a Go function value would point to a wrapper.
func stubsAddress() unsafe.Pointer
