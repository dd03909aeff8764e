package named

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// A method of a type is machine code that gets a receiver and arguments but, unlike a closure, no context. So there is a fixed number of
// stubs; each finds its closure by its number and goes on in it. stub_*.s has them.

// MaxMethods is how many methods all types made by a process may have, those of values counted twice.
const MaxMethods = 65536

const stubSize = 16

var (
	closures [MaxMethods]unsafe.Pointer // what each stub calls

	mu   sync.Mutex
	used int   // stubs that were ever given out
	free []int // of them, those that came back
)

// stub returns the code of a method that calls f.
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

// code returns what the interface of a function holds.
func code(f any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&f))[1] }

// stubCode returns the code of a stub.
func stubCode(number int) unsafe.Pointer { return unsafe.Add(stubsAddress(), number*stubSize) }

// release takes stubs back whose methods nothing calls any more.
func release(numbers []int) {
	mu.Lock()
	defer mu.Unlock()
	for _, i := range numbers {
		closures[i] = nil
	}
	free = append(free, numbers...)
}

// stubsAddress is implemented in assembly: a function value of Go's would lead to a wrapper.
func stubsAddress() unsafe.Pointer
