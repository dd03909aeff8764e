package yaegi

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The variables of a function that has nothing but numbers, bools and functions, in its temporary variables too, are known to nothing else once it has returned, if
// it takes no address, makes no function, and calls no method, which could get the address of its receiver. Its frame is used again.

// activation is a frame with its variables, between the calls of a function.
type activation struct {
	frame     *Frame
	variables []Value // of the frame
	own       []Value // what they are when a call begins
	words     []uint64
}

// activations are those of one function, for all goroutines.
type activations struct {
	layout *layout
	free   sync.Pool
}

// activations returns those of a function with a layout, nil if it may leave anything behind.
func (n *Node) activations(l *layout) *activations {
	for i, t := range l.types {
		if l.sizes[i] == 0 && t.Kind() != reflect.Func {
			return nil
		}
	}
	if n.block().leavesVariables() {
		return nil
	}
	return &activations{layout: l}
}

// leavesVariables reports whether something in a tree may keep a variable of its function.
func (n *Node) leavesVariables() bool {
	if n.kind == kinds.funcLit || n.kind == kinds.addressExpr || n.recv != nil {
		return true
	}
	return slices.ContainsFunc(n.child, (*Node).leavesVariables)
}

// take returns the frame of a call that begins.
func (l *activations) take(caller *Frame, id uint64) *activation {
	a, _ := l.free.Get().(*activation)
	if a == nil {
		a = &activation{frame: newFrame(caller, len(l.layout.types), id)}
		a.variables = a.frame.data
		a.own = make([]Value, len(a.variables))
		a.words = l.layout.fill(a.own)
	} else {
		a.frame.anc = caller
		atomic.StoreUint64(&a.frame.id, id)
	}
	copy(a.variables, a.own)
	return a
}

// release gives a frame back at the end of its call.
func (l *activations) release(a *activation) {
	a.frame.anc = nil
	clear(a.words)
	for i, size := range l.layout.sizes {
		if size == 0 {
			*(*unsafe.Pointer)(a.own[i].ptr) = nil // a function
		}
	}
	l.free.Put(a)
}
