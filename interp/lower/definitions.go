package lower

import (
	"go/types"
	"maps"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// definitions holds the declarations that a cell adds to the program once yaegi has accepted it.
type definitions struct {
	l       *lowerer
	program *Program
	fresh   []*Storage // variables that need new storage
	retired []*Storage // variables whose names are defined again
	taken   []*Storage // storage of earlier variables that is used again
	dropped []string   // functions in yaegi that no cell can call any more
	gone    map[string]bool
	replace []contract.Replacement

	uses     map[string][]string // see callers.go
	outdated []outdated
	kept     []keptFunction
}

// redefines returns the name in yaegi of the function that fn replaces, or "" if that function's
// callers could not call fn.
func (d *definitions) redefines(name string, fn *types.Func) string {
	old, ok := d.program.checker.Objects()[name].(*types.Func)
	if !ok || !types.Identical(old.Type(), fn.Type()) || fn.Signature().TypeParams().Len() > 0 {
		return "" // the instances of a generic function are defined again: see redefineInstances
	}
	return d.program.names[old]
}

// redefineInstances defines the instances of the generic function that fn replaces again, so that
// their callers call the new instances.
func (d *definitions) redefineInstances(name string, fn *types.Func) {
	old, ok := d.program.checker.Objects()[name].(*types.Func)
	if !ok || fn.Signature().TypeParams().Len() == 0 || !types.Identical(old.Type(), fn.Type()) {
		return
	}
	for _, was := range d.program.instances[old] {
		inst := &instance{obj: fn, args: was.args, name: was.name, fresh: d.program.newName(name)}
		d.l.instances[fn] = append(d.l.instances[fn], inst)
		d.l.pending = append(d.l.pending, inst)
		d.replace = append(d.replace, contract.Replacement{Old: inst.name, Fresh: inst.fresh})
	}
}

// storageFor returns storage for a variable: storage that an earlier variable of the same type no
// longer uses, or new storage.
func (d *definitions) storageFor(v *types.Var) *Storage {
	p := d.program
	key := types.TypeString(v.Type(), nil)
	for i, s := range p.free[key] {
		if types.Identical(s.typ, v.Type()) {
			p.free[key] = append(p.free[key][:i:i], p.free[key][i+1:]...)
			d.taken = append(d.taken, s)
			return s
		}
	}
	s := &Storage{name: p.newName(v.Name()), typ: v.Type(), users: map[*check.Text]bool{}}
	d.fresh = append(d.fresh, s)
	return s
}

// rollback forgets a cell that yaegi rejected.
func (d *definitions) rollback() {
	for _, s := range d.taken {
		d.program.release(s)
	}
}

// commit adds the cell's definitions to the session.
func (d *definitions) commit() {
	p, c := d.program, d.l.c
	if c.Package != nil {
		d.commitPackage()
		return
	}
	for name := range c.Imports {
		d.drop(name)
	}
	for name, obj := range c.Objects {
		d.drop(name)
		d.noteType(obj)
	}
	seen := map[string]bool{}
	for _, v := range c.Vars {
		s := d.l.places[v]
		p.storage[s.name] = s
		if seen[v.Name()] { // the cell defines it twice
			continue
		}
		seen[v.Name()] = true
		if old := p.variable(v.Name()); old != s {
			d.drop(v.Name())
			p.defined++
			p.order[v.Name()] = p.defined
		} else {
			p.forget(p.checker.Objects()[v.Name()])
		}
	}
	p.checker.Define(c)
	d.commitNames()
	d.commitCallers()
}

// commitPackage adds the definitions of a package. Names of the session never refer to them.
func (d *definitions) commitPackage() {
	for _, obj := range d.l.c.Objects {
		d.noteType(obj)
	}
	for _, s := range d.l.places {
		d.program.storage[s.name] = s
	}
	d.commitNames()
}

// commitNames keeps the names of the cell's definitions, and the objects that its functions share
// with functions of later cells.
func (d *definitions) commitNames() {
	p := d.program
	maps.Copy(p.names, d.l.names)
	maps.Copy(p.converters, d.l.converters)
	maps.Copy(p.asserted, d.l.asserted)
	maps.Copy(p.implementing, d.l.implementing)
	d.commitGenerics()
}

// commitGenerics keeps the objects that the cell's generic declarations use, the types that its
// functions declare, and the instances that it is the first to use.
func (d *definitions) commitGenerics() {
	p := d.program
	for _, g := range d.l.c.Generics {
		for _, used := range g.Env {
			p.pinned[used] = true
			d.l.capture(used)
		}
	}
	for _, t := range d.l.locals {
		d.noteType(t)
	}
	for obj, list := range d.l.instances {
		p.instances[obj] = append(p.instances[obj], list...)
		for _, inst := range list {
			if inst.typ != nil {
				p.types[inst.name] = inst.typ
			}
		}
	}
}

// noteType records a declared type by its name in yaegi.
func (d *definitions) noteType(obj types.Object) {
	if t, ok := obj.(*types.TypeName); ok {
		d.program.types[d.l.names[t]] = t
	}
}

// unnamed notes that the name of a type was defined again. Aliases and generic types are kept for
// ever.
func (d *definitions) unnamed(t *types.TypeName) {
	p := d.program
	named, ok := t.Type().(*types.Named)
	if ok && named.Obj() == t && p.names[t] != "" && p.types[p.names[t]] == t && d.l.generic(t) == nil {
		p.unnamed.list = append(p.unnamed.list, OldType{p.names[t], t})
	}
}

// drop removes the definition that a name had before the cell.
func (d *definitions) drop(name string) {
	p := d.program
	obj := p.checker.Objects()[name]
	if obj == nil || d.gone[name] {
		return
	}
	d.gone[name] = true
	p.callers.forget(name)
	if _, isType := obj.(*types.TypeName); !isType {
		defer p.forget(obj)
	} else {
		p.callers.forgetType(obj.Type())
		d.unnamed(obj.(*types.TypeName))
	}
	if fn, ok := obj.(*types.Func); ok {
		if old := p.names[obj]; old != "" && old != d.l.names[d.l.c.Objects[name]] {
			d.outdated = append(d.outdated, outdated{fn, old})
			if !p.pinned[obj] {
				d.dropped = append(d.dropped, old)
			}
		}
		if again := d.l.instances[d.l.c.Objects[name]]; again != nil {
			delete(p.instances, obj)
			p.checker.DropGeneric(obj)
		}
	}
	s := p.storage[p.names[obj]]
	if _, isVar := obj.(*types.Var); !isVar || s == nil {
		return
	}
	delete(p.order, name)
	delete(p.storage, s.name)
	d.retired = append(d.retired, s)
}

// keptFunction is a function whose name was defined again, and the functions that go on calling it,
// with their cells.
type keptFunction struct {
	fn    *types.Func
	users map[string]string
}

// outdated is a function whose name was defined again, and its name in yaegi.
type outdated struct {
	fn   *types.Func
	name string
}

// commitCallers keeps the uses of functions by the cell's functions, and finds the callers that go
// on calling a dropped function.
func (d *definitions) commitCallers() {
	p := d.program
	for name, uses := range d.uses {
		p.callers.note(name, d.l.c.Name, uses)
	}
	for _, old := range d.outdated {
		if users := p.callers.of[old.name]; len(users) > 0 {
			d.kept = append(d.kept, keptFunction{old.fn, maps.Clone(users)})
		}
	}
}
