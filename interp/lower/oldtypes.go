package lower

import (
	"go/types"
	"maps"
	"slices"
	"strings"
)

// A type whose name was defined again is kept while variables, functions and types of the session
// refer to it. After that no cell can name it any more: the program drops it, and it goes away with
// the last code that uses it.

// Unused returns the types that nothing in the session refers to any more, and the names in yaegi
// of functions and variables that go with them. Kept reports whether values of a type may exist
// anywhere; such types stay. Unused searches the whole session, so it does that only when there are
// many candidates: defining a type again then costs the same in a large session as in a small one.
func (p *Program) Unused(kept func(*types.TypeName) bool) (unused []OldType, dropped []string) {
	objects := p.checker.Objects()
	if len(p.unnamed.list) < p.unnamed.enough {
		return nil, nil
	}
	r := references{seen: map[types.Type]bool{}}
	for _, obj := range objects {
		r.add(obj.Type())
	}
	for obj := range p.pinned {
		r.add(obj.Type())
	}
	for _, list := range p.instances {
		for _, inst := range list {
			for _, arg := range inst.args {
				r.add(arg)
			}
		}
	}
	for _, t := range p.asserted {
		r.add(t)
	}
	for _, c := range p.converters {
		if c.boxes { // a variable may hold such a value whatever its own type is
			r.add(c.from)
		}
	}
	p.unnamed.list = slices.DeleteFunc(p.unnamed.list, func(t OldType) bool {
		if r.seen[t.Type.Type()] {
			return false
		}
		if !kept(t.Type) {
			p.unnamed.released[t.Type] = true
			unused = append(unused, t)
		}
		return true
	})
	p.unnamed.enough = manyTypes + 2*len(p.unnamed.list) + len(objects)/8
	if unused == nil {
		return nil, nil
	}
	return unused, p.releaseAll()
}

// releaseAll drops the converters and the storage of released types, and returns their names in
// yaegi.
func (p *Program) releaseAll() (dropped []string) {
	maps.DeleteFunc(p.converters, func(_ string, c converter) bool {
		if !p.refersToReleased(c.from) && !p.refersToReleased(c.to) {
			return false
		}
		dropped = append(dropped, c.name)
		return true
	})
	maps.DeleteFunc(p.free, func(_ string, list []*Storage) bool { return len(list) == 0 })
	for key, list := range p.free {
		p.free[key] = slices.DeleteFunc(list, func(s *Storage) bool {
			if !p.refersToReleased(s.typ) {
				return false
			}
			dropped = append(dropped, s.name)
			return true
		})
	}
	return dropped
}

func (p *Program) refersToReleased(t types.Type) bool {
	r := references{seen: map[types.Type]bool{}}
	r.add(t)
	for t := range r.seen {
		if n, ok := t.(*types.Named); ok && p.unnamed.released[n.Obj()] {
			return true
		}
	}
	return false
}

// Forget drops the data about a type that is gone.
func (p *Program) Forget(t OldType) {
	delete(p.unnamed.released, t.Type)
	delete(p.names, t.Type)
	delete(p.types, t.Name)
	maps.DeleteFunc(p.implementing, func(pair string, _ bool) bool {
		of, _, _ := strings.Cut(pair, "\x00")
		return strings.TrimPrefix(of, "*") == t.Name
	})
}
