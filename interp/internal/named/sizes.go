package named

import (
	"fmt"
	"reflect"
)

// Compiled types of the kinds whose descriptors have fields of their own, each with a method.
type (
	someArray   [2]int
	someChan    chan int
	someFunc    func(int, ...string) error
	someMap     map[string]int
	someSlice   []int
	someStruct  struct{ A, B int }
	someInteger int
)

func (someArray) Method()   {}
func (someChan) Method()    {}
func (someFunc) Method()    {}
func (someMap) Method()     {}
func (someSlice) Method()   {}
func (someStruct) Method()  {}
func (someInteger) Method() {}

// checkSizes is the part of Check that compares the sizes of descriptors: the data behind the
// descriptor of a compiled type must say that the type has one method.
func checkSizes() error {
	for _, t := range []reflect.Type{
		reflect.TypeFor[someArray](), reflect.TypeFor[someChan](), reflect.TypeFor[someFunc](), reflect.TypeFor[someMap](),
		reflect.TypeFor[someSlice](), reflect.TypeFor[someStruct](), reflect.TypeFor[someInteger](), reflect.TypeFor[*someInteger](),
	} {
		h := headerOf(t)
		if u := uncommonOf(h, t.Kind()); h.flags&flagUncommon == 0 || u.methods != 1 || u.visible != 1 {
			return fmt.Errorf("named: the descriptor of a %s is not that of this Go release", t.Kind())
		}
	}
	return nil
}
