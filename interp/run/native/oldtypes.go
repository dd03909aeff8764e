package native

import (
	"go/types"
	"maps"
	"runtime"
	"weak"
)

// Code that runs or may run, such as a closure in a variable, may still use a type that no cell can
// name any more. All such code references yaegi's own type, so the runtime's data about the native
// type is attached to yaegi's type, and is freed with it.

// released is the runtime's data about a type that no cell can name any more.
type released struct{ methods []*methods }

// Kept reports whether a type must be kept for ever: because native values of it may exist
// anywhere, or because it is registered as an implementation of an interface.
func (n *Types) Kept(t *types.TypeName) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.isKept(t)
}

// Release arranges that a type goes away with the code that uses it. The type has the given name in
// yaegi, and no other object may refer to it. When it is gone, gone is called on another goroutine.
func (n *Types) Release(name string, t *types.TypeName, gone func()) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isKept(t) { // became so just now
		return nil
	}
	r := &released{n.methods[t]}
	if dropped, err := n.yaegi.DropType(name, r); err != nil || !dropped {
		return err
	}
	delete(n.methods, t)
	n.released[t] = weak.Make(r)
	self := weak.Make(n)
	runtime.AddCleanup(r, func(t *types.TypeName) {
		if n := self.Value(); n != nil && n.forget(t) {
			gone()
		}
	}, t)
	return nil
}

func (n *Types) isKept(t *types.TypeName) bool {
	if n.made[view{origin: t}] != nil || n.made[view{t, true}] != nil {
		return true
	}
	for _, list := range n.implementations {
		for _, i := range list {
			of := i.typ
			if p, ok := of.(*types.Pointer); ok {
				of = p.Elem()
			}
			if of == t.Type() {
				return true
			}
		}
	}
	return false
}

// hold keeps a released type for ever, because one of its values becomes a native value.
func (n *Types) hold(t *types.TypeName) {
	if r := n.released[t].Value(); r != nil {
		n.methods[t] = r.methods
		delete(n.released, t)
	}
}

// forget drops a released type that is gone, and reports whether t was one.
func (n *Types) forget(t *types.TypeName) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.released[t]; !ok {
		return false
	}
	delete(n.released, t)
	delete(n.local, t)
	n.gone[t] = true
	if len(n.gone) < 16+len(n.types)/8 {
		return true
	}
	maps.DeleteFunc(n.types, func(_ string, of types.Type) bool { return n.isGone(of) })
	clear(n.gone)
	return true
}

// isGone reports whether a type, or the element type in it, is gone.
func (n *Types) isGone(t types.Type) bool {
	for {
		switch u := types.Unalias(t).(type) {
		case *types.Named:
			return n.gone[u.Obj()]
		case interface{ Elem() types.Type }:
			t = u.Elem()
		default:
			return false
		}
	}
}
