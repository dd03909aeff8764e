package run

import (
	"go/types"
	"maps"
	"runtime"
	"weak"
)

// A type that no cell can name any more may still be used by code that runs or may run, such as that of a closure in a variable. Yaegi's own type is reachable from
// all such code, so what the runtime knows of the type is kept there, and is gone with it.

// released is what the runtime knows of a type that no cell can name any more.
type released struct{ methods []*methods }

// Kept reports whether there may be native values of a type, which may be anywhere, or it is known by which interfaces it implements.
func (rt *Runtime) Kept(t *types.TypeName) bool {
	rt.natives.mu.Lock()
	defer rt.natives.mu.Unlock()
	return rt.natives.isKept(t)
}

// Release makes a type, which has a name in yaegi and no other object refers to, one that goes with the code that uses it. Then gone is called, on another goroutine.
func (rt *Runtime) Release(name string, t *types.TypeName, gone func()) error {
	n := rt.natives
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isKept(t) { // since a moment ago
		return nil
	}
	r := &released{n.methods[t]}
	if dropped, err := rt.yaegi.DropType(name, r); err != nil || !dropped {
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

func (n *natives) isKept(t *types.TypeName) bool {
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

// hold keeps a released type for ever, because a value of it becomes a native one.
func (n *natives) hold(t *types.TypeName) {
	if r := n.released[t].Value(); r != nil {
		n.methods[t] = r.methods
		delete(n.released, t)
	}
}

// forget drops a type that is gone, and reports whether it did.
func (n *natives) forget(t *types.TypeName) bool {
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

// isGone reports whether a type is gone, or one of its elements.
func (n *natives) isGone(t types.Type) bool {
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
