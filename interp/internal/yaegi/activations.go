package yaegi

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// After a function has returned, nothing else refers to its variables if all of them, temporary
// ones included, are numbers, bools, strings, slices, pointers or the like, or structs of these, and
// the function takes no address, makes no function, and calls no method (which could take the
// address of its receiver). The frame of such a function is reused.

// activation is a frame with its variables, kept between calls of a function.
type activation struct {
	frame     *Frame
	variables []Value // of the frame
	own       []Value // the variables' values at the beginning of a call
	words     []uint64
}

// activations has the activations of one function, for all goroutines.
type activations struct {
	layout *layout
	last   atomic.Pointer[activation] // the one that was released last, unless free has it
	free   sync.Pool
}

// activations returns the activations of a function with a layout, or nil if its frames cannot be
// reused.
func (n *Node) activations(l *layout) *activations {
	shared := func(t reflect.Type) bool { return !isCopied(t) }
	if slices.ContainsFunc(l.types, shared) || n.block().leavesVariables() {
		return nil
	}
	return &activations{layout: l}
}

// isCopied reports whether values of a type are copied wherever they go. Interfaces and boxes may
// refer to the variable that was converted, slices to the array that they are made of.
func isCopied(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Struct:
		if t == reflect.TypeFor[reflect.Value]() {
			return false
		}
		for i := range t.NumField() {
			if !isCopied(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.String, reflect.Slice:
		return true
	default:
		return isWord[k] || scalarSize[k] > 0
	}
}

// isWord has the kinds that are a pointer.
var isWord = [kindMask + 1]bool{reflect.Func: true, reflect.Pointer: true, reflect.UnsafePointer: true, reflect.Map: true,
	reflect.Chan: true}

// leavesVariables reports whether something in a tree may keep a reference to a variable of its
// function.
func (n *Node) leavesVariables() bool {
	if n.kind == kinds.funcLit || n.kind == kinds.addressExpr || n.recv != nil {
		return true
	}
	return slices.ContainsFunc(n.child, (*Node).leavesVariables)
}

// take returns a frame for a new call.
func (l *activations) take(caller *Frame, id uint64) *activation {
	a := l.last.Swap(nil)
	if a == nil {
		a, _ = l.free.Get().(*activation)
	}
	if a == nil {
		a = &activation{frame: newFrame(caller, len(l.layout.types), id)}
		a.variables = a.frame.data
		a.own = make([]Value, len(a.variables))
		a.words = l.layout.fill(a.own)
		copy(a.variables, a.own)
		return a
	}
	a.frame.anc = caller
	if atomic.LoadUint64(&a.frame.id) != id { // a store takes longer
		atomic.StoreUint64(&a.frame.id, id)
	}
	return a
}

// release frees a frame at the end of its call.
func (l *activations) release(a *activation) {
	a.frame.anc = nil
	clear(a.words)
	for i, size := range l.layout.sizes {
		switch v := &a.own[i]; {
		case size > 0:
		case isWord[v.flag&kindMask]:
			*(*unsafe.Pointer)(v.ptr) = nil
		default:
			v.reflect().SetZero()
		}
	}
	copy(a.variables, a.own)
	if !l.last.CompareAndSwap(nil, a) {
		l.free.Put(a)
	}
}
