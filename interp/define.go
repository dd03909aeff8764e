package interp

import (
	"go/types"
	"maps"
	"slices"
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
			d.instancesAgain(name, obj)
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
		return "" // a generic one's instances are defined again: see instancesAgain
	}
	return d.in.scope.names[old]
}

// instancesAgain defines the instances of a generic function again that fn takes the place of, so that their callers call those of fn.
func (d *definitions) instancesAgain(name string, fn *types.Func) {
	old, ok := d.in.scope.objects[name].(*types.Func)
	if !ok || fn.Signature().TypeParams().Len() == 0 || !types.Identical(old.Type(), fn.Type()) {
		return
	}
	for _, was := range d.in.scope.instances[old] {
		inst := &instance{obj: fn, args: was.args, name: was.name, fresh: d.in.scope.newName(name)}
		d.l.instances[fn] = append(d.l.instances[fn], inst)
		d.l.pending = append(d.l.pending, inst)
		d.replace = append(d.replace, replacement{old: inst.name, fresh: inst.fresh})
	}
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
	s := &storage{name: scope.newName(v.Name()), typ: v.Type(), users: map[*cellText]bool{}}
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
	for _, path := range c.dots {
		if !slices.Contains(scope.dots, path) {
			scope.dots = append(scope.dots, path)
		}
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
			scope.forget(scope.objects[v.Name()])
		}
		scope.storage[s.name] = s
		d.put(v.Name(), v)
	}
	maps.Copy(scope.names, d.l.names)
	maps.Copy(scope.converters, d.l.converters)
	maps.Copy(scope.asserted, d.l.asserted)
	maps.Copy(scope.implementing, d.l.implementing)
	d.commitGenerics()
}

// commitGenerics keeps the cell's generic declarations and the instances that it is the first to use.
func (d *definitions) commitGenerics() {
	scope := d.in.scope
	for obj, g := range d.l.c.generics {
		scope.generics[obj] = g
		for _, used := range g.env {
			scope.pinned[used] = true
			d.l.capture(used)
		}
	}
	for _, t := range d.l.locals {
		scope.types[d.l.names[t]] = t
		if types.NewMethodSet(types.NewPointer(t.Type())).Len() > 0 {
			scope.locals = append(scope.locals, t)
		}
	}
	for obj, list := range d.l.instances {
		scope.instances[obj] = append(scope.instances[obj], list...)
		for _, inst := range list {
			if inst.typ != nil {
				scope.types[inst.name] = inst.typ
			}
		}
	}
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
		defer scope.forget(obj)
	}
	if _, ok := obj.(*types.Func); ok {
		if old := scope.names[obj]; old != "" && old != d.l.names[d.l.c.objects[name]] && !scope.pinned[obj] {
			d.in.inside.drop(old)
		}
		if again := d.l.instances[d.l.c.objects[name]]; again != nil {
			delete(scope.instances, obj)
			delete(scope.generics, obj)
		}
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
