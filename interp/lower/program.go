package lower

import (
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/session"
)

// Program holds the objects of the committed cells, with their names in yaegi. Each committed cell
// adds to it. Its methods must not be called concurrently.
type Program struct {
	checker *check.Checker

	// the names in yaegi of objects in use; those of types stay for ever
	names   map[types.Object]string
	types   map[string]*types.TypeName // the types among them, by name in yaegi
	version map[string]int             // the last number used for a name

	order   map[string]int      // variables, numbered by their first definition
	defined int                 // the last such number
	storage map[string]*Storage // storage of the variables, by name in yaegi
	// unused storage of variables whose names were defined again, by type
	free map[string][]*Storage

	callers callers
	unnamed unnamed
	stacks  bool // a cell has used a function that reports stacks: see callstack.go
	points  int  // how many points cells have: see stops.go
	codes   bool // a cell has used the code of a function value: see functioncode.go in package run

	instances    map[types.Object][]*instance // of generic functions and types
	pinned       map[types.Object]bool        // objects that generic declarations use
	converters   map[string]converter         // functions that convert to interfaces, by the two types
	asserted     map[string]types.Type        // interface types of cells that functions assert to, by key
	implementing map[string]bool              // pairs of a type and such an interface that the runtime knows
}

// Storage is a package-level variable of yaegi that holds a variable of the session.
type Storage struct {
	name     string
	typ      types.Type
	pointer  reflect.Value // to the variable; set when the cell that declares it starts
	captured bool          // a pointer or a generic function may use it for ever
	// cells with functions that use it; true if the cell itself declares such a function
	users map[*check.Text]bool
}

// New returns the empty program of a checker's session.
func New(k *check.Checker) *Program {
	return &Program{
		checker: k, names: map[types.Object]string{}, types: map[string]*types.TypeName{}, storage: map[string]*Storage{},
		order:   map[string]int{},
		callers: newCallers(), unnamed: unnamed{enough: manyTypes, released: map[*types.TypeName]bool{}},
		free: map[string][]*Storage{}, version: map[string]int{}, converters: map[string]converter{}, asserted: map[string]types.Type{},
		implementing: map[string]bool{}, instances: map[types.Object][]*instance{}, pinned: map[types.Object]bool{},
	}
}

// Bind records where yaegi keeps a variable: pointer points to it.
func (p *Program) Bind(name string, pointer reflect.Value) {
	if s := p.storage[name]; s != nil {
		s.pointer = pointer
	}
}

// Type returns the type of cells with this name in yaegi, or nil.
func (p *Program) Type(name string) *types.TypeName { return p.types[name] }

// Variable is a variable of the session.
type Variable struct {
	Name  string
	Type  types.Type
	Value reflect.Value // the variable itself, in yaegi's memory
}

// Variables lists the variables of the session in the order of their definition, except for the
// variables of a cell that has not run.
func (p *Program) Variables() []Variable {
	var list []Variable
	for _, name := range slices.SortedFunc(maps.Keys(p.order), func(a, b string) int { return p.order[a] - p.order[b] }) {
		if s := p.variable(name); s != nil && s.pointer.IsValid() {
			list = append(list, Variable{name, s.typ, s.pointer.Elem()})
		}
	}
	return list
}

// variable returns the storage of the session's variable with this name, or nil if name is not a
// variable.
func (p *Program) variable(name string) *Storage {
	v, ok := p.checker.Objects()[name].(*types.Var)
	if !ok {
		return nil
	}
	return p.storage[p.names[v]]
}

// Gone reports whether the functions of a cell can no longer run: all of them, or only those that the
// cell does not declare.
type Gone func(cell *check.Text, declared bool) bool

// DropUsers forgets that functions which can no longer run use the variables of the session.
func (p *Program) DropUsers(gone Gone) {
	for _, s := range p.storage {
		maps.DeleteFunc(s.users, gone)
	}
}

// Reclaim makes storage that its variable no longer uses available to other variables of the type,
// unless functions still use it. It returns true if it need not be called again for this storage.
func (p *Program) Reclaim(s *Storage, gone Gone) bool {
	maps.DeleteFunc(s.users, gone)
	if s.captured || !s.pointer.IsValid() {
		return true
	}
	if len(s.users) > 0 {
		return false
	}
	s.pointer.Elem().SetZero()
	p.release(s)
	return true
}

// release makes unused storage available to other variables of its type.
func (p *Program) release(s *Storage) {
	key := types.TypeString(s.typ, nil)
	p.free[key] = append(p.free[key], s)
}

// newName returns a name for yaegi that no source can spell.
func (p *Program) newName(name string) string {
	p.version[name]++
	return fmt.Sprintf("%s#%d", name, p.version[name])
}

// newTypeName returns a name for a type. Reflection requires letters, and programs print the name
// where the type is embedded. So the first type with a name keeps that name, unless it belongs to a
// package, because types in functions of other packages may have the same name.
func (p *Program) newTypeName(name string, ofPackage bool) string {
	p.version[name]++
	if n := p.version[name]; n > 1 || ofPackage || types.Universe.Lookup(name) != nil {
		return fmt.Sprintf("%s%s%d", name, contract.TypeVersion, n)
	}
	return name
}

// forget drops the name of an object that was defined again, unless a generic declaration that uses
// the object may still be instantiated.
func (p *Program) forget(obj types.Object) {
	if !p.pinned[obj] {
		delete(p.names, obj)
	}
}

// instance is a generic declaration with type arguments; in yaegi it is a separate function or
// type.
type instance struct {
	obj  types.Object // the generic function or type
	args []types.Type
	name string          // in yaegi
	typ  *types.TypeName // for a type: its name where it is printed

	// for a function that is defined again: the name of the new definition, which replaces the old
	// one
	fresh string
}

// converter is a function of yaegi that converts values to an interface type.
type converter struct {
	name     string
	from, to types.Type
	boxes    bool // to is an interface type of cells that has methods
}

// callers records which functions of the session use which others.
type callers struct {
	// for each function in yaegi: the functions that use it, by name, with their cells
	of    map[string]map[string]string
	calls map[string][]string // for each function in yaegi: the functions that it uses
}

func newCallers() callers { return callers{map[string]map[string]string{}, map[string][]string{}} }

// unnamed has the types whose names were defined again.
type unnamed struct {
	list []OldType // types to which the session may refer
	// length of list at which it is next searched for types to which the session no longer refers
	enough int
	// types to which the session no longer refers, and that cells may not name
	released map[*types.TypeName]bool
}

// manyTypes is the length of the list at which it is searched in a small session.
const manyTypes = 16

// OldType is a type whose name was defined again.
type OldType struct {
	Name string // in yaegi
	Type *types.TypeName
}

// spelled lists the declared types that cells can name.
func (p *Program) spelled() (list []types.Object) {
	for _, t := range p.types {
		if !p.unnamed.released[t] {
			list = append(list, t)
		}
	}
	return list
}

// define gives every object of a cell a name in yaegi.
func (p *Program) define(l *lowerer) *definitions {
	d := &definitions{l: l, program: p, gone: map[string]bool{}}
	for name, obj := range l.c.Objects {
		switch obj := obj.(type) {
		case *types.TypeName:
			l.names[obj] = p.newTypeName(name, l.c.Package != nil)
		case *types.Func:
			l.names[obj] = p.newName(name)
			if l.c.Package != nil {
				continue
			}
			d.redefineInstances(name, obj)
			if old := d.redefines(name, obj); old != "" {
				l.declared[obj] = l.names[obj]
				l.names[obj] = old
				d.replace = append(d.replace, contract.Replacement{Old: old, Fresh: l.declared[obj]})
			}
		}
	}
	for _, m := range l.c.AddedMethods {
		if m.Again {
			fresh := p.newName(m.Method.Name())
			l.declared[m.Method] = fresh
			d.replace = append(d.replace, contract.Replacement{Type: p.names[m.Type.Obj()], Old: m.Method.Name(), Fresh: fresh})
		}
	}
	taken := map[string]*Storage{}
	for _, v := range l.c.Vars {
		l.hoisted[v] = true
		s := taken[v.Name()]
		if s == nil && l.c.Package == nil {
			s = p.variable(v.Name())
		}
		if s == nil || !types.Identical(s.typ, v.Type()) {
			s = d.storageFor(v)
		}
		taken[v.Name()] = s
		l.places[v] = s
		l.names[v] = s.name
	}
	for _, f := range l.c.Inits {
		l.declared[l.info.Defs[f.Name]] = p.newName(f.Name.Name)
	}
	if l.c.Package == nil {
		d.uses = l.uses()
	}
	return d
}

// Lower rewrites a checked cell for yaegi. The cell's syntax cannot be used for anything else
// afterwards. The program does not change until the lowered cell is committed.
//
// Code of a debugged cell can stand at points, which get numbers that the program has not used
// before.
func (p *Program) Lower(c *check.Cell, debugged bool) (*Cell, *session.Error) {
	l := p.newLowerer(c)
	l.predeclared = l.declaresPredeclared()
	if debugged {
		l.points.next = p.points + 1
	}
	for _, decl := range c.Decls {
		l.unqualify(decl)
	}
	l.unqualify(c.Body)
	d := p.define(l)
	out, err := l.cell(d)
	if err != nil {
		d.rollback()
		return nil, err
	}
	return out, nil
}
