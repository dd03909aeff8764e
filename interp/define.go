package interp

import (
	"go/types"
	"maps"
)

// definitions is what a cell adds to the session once yaegi has accepted it.
type definitions struct {
	in      *Interp
	l       *lowerer
	fresh   []*storage // variables that need new storage
	retired []*storage // variables whose name now means something else
	taken   []*storage // of earlier variables, used again
	replace []replacement
}

// define gives every object of a cell its name in yaegi.
func (in *Interp) define(l *lowerer) *definitions {
	d := &definitions{in: in, l: l}
	scope := in.scope
	for name, obj := range l.c.objects {
		switch obj := obj.(type) {
		case *types.TypeName:
			l.names[obj] = scope.newTypeName(name)
		case *types.Func:
			l.names[obj] = scope.newName(name)
			if old := d.redefines(name, obj); old != "" {
				l.declared[obj] = l.names[obj]
				l.names[obj] = old
				d.replace = append(d.replace, replacement{old: old, fresh: l.declared[obj]})
			}
		}
	}
	for _, m := range l.c.added {
		if m.again {
			fresh := scope.newName(m.fn.Name())
			l.declared[m.fn] = fresh
			d.replace = append(d.replace, replacement{typ: scope.names[m.base.Obj()], old: m.fn.Name(), fresh: fresh})
		}
	}
	taken := map[string]*storage{}
	for _, v := range l.c.vars {
		l.hoisted[v] = true
		s := taken[v.Name()]
		if s == nil {
			s = scope.variable(v.Name())
		}
		if s == nil || !types.Identical(s.typ, v.Type()) {
			s = d.storageFor(v)
		}
		taken[v.Name()] = s
		l.places[v] = s
		l.names[v] = s.name
	}
	return d
}

// redefines returns the name in yaegi of the function that fn takes the place of, "" if its callers could not call fn.
func (d *definitions) redefines(name string, fn *types.Func) string {
	old, ok := d.in.scope.objects[name].(*types.Func)
	if !ok || !types.Identical(old.Type(), fn.Type()) || fn.Signature().TypeParams().Len() > 0 {
		return ""
	}
	return d.in.scope.names[old]
}

// storageFor finds storage for a variable: some that an earlier variable of the same type left, or new.
func (d *definitions) storageFor(v *types.Var) *storage {
	scope := d.in.scope
	key := types.TypeString(v.Type(), nil)
	for i, s := range scope.free[key] {
		if types.Identical(s.typ, v.Type()) {
			scope.free[key] = append(scope.free[key][:i:i], scope.free[key][i+1:]...)
			d.taken = append(d.taken, s)
			return s
		}
	}
	s := &storage{name: scope.newName(v.Name()), typ: v.Type()}
	d.fresh = append(d.fresh, s)
	return s
}

// rollback forgets a cell that was refused.
func (d *definitions) rollback() {
	for _, s := range d.taken {
		d.in.scope.release(s)
	}
}

// commit makes the cell's definitions those of the session.
func (d *definitions) commit() {
	scope, c := d.in.scope, d.l.c
	for name, path := range c.imports {
		d.drop(name)
		scope.imports[name] = path
	}
	for name, obj := range c.objects {
		d.drop(name)
		d.put(name, obj)
	}
	for _, v := range c.vars {
		s := d.l.places[v]
		if old := scope.variable(v.Name()); old != s {
			d.drop(v.Name())
			scope.order = append(scope.order, v.Name())
		} else if old != nil {
			delete(scope.names, scope.objects[v.Name()])
		}
		scope.storage[s.name] = s
		d.put(v.Name(), v)
	}
	maps.Copy(scope.names, d.l.names)
	maps.Copy(scope.converters, d.l.converters)
}

func (d *definitions) put(name string, obj types.Object) {
	scope := d.in.scope
	delete(scope.imports, name)
	scope.objects[name] = obj
	if t, ok := obj.(*types.TypeName); ok {
		scope.types[d.l.names[t]] = t
	}
}

// drop removes what a name meant.
func (d *definitions) drop(name string) {
	scope := d.in.scope
	obj := scope.objects[name]
	if obj == nil {
		return
	}
	delete(scope.objects, name)
	if _, isType := obj.(*types.TypeName); !isType {
		defer delete(scope.names, obj)
	}
	if fn, ok := obj.(*types.Func); ok {
		d.in.forgetFunction(fn)
	}
	s := scope.storage[scope.names[obj]]
	if _, isVar := obj.(*types.Var); !isVar || s == nil {
		return
	}
	for i, n := range scope.order {
		if n == name {
			scope.order = append(scope.order[:i:i], scope.order[i+1:]...)
			break
		}
	}
	delete(scope.storage, s.name)
	d.retired = append(d.retired, s)
}
