package lower

import (
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run"
)

// Program is what yaegi has of the cells so far, and under which names. Each cell that is committed adds to it. Its methods must not be called at the same time.
type Program struct {
	checker *check.Checker

	names   map[types.Object]string    // the names in yaegi of objects in use; types stay
	types   map[string]*types.TypeName // the types among them, by name in yaegi
	version map[string]int             // the last number given out for a name

	order   map[string]int        // variables, by the number of their first definition
	defined int                   // the last such number
	storage map[string]*Storage   // where they are kept, by name in yaegi
	free    map[string][]*Storage // left by variables whose names mean something else now, by type

	callers callers
	unnamed unnamed
	stacks  bool // a cell has asked for the stack of a goroutine: see callstack.go
	codes   bool // a cell has asked for the code of a function value

	instances    map[types.Object][]*instance // of generic functions and types
	pinned       map[types.Object]bool        // objects that generic declarations use
	converters   map[string]converter         // functions that convert to interfaces, by the two types
	asserted     map[string]types.Type        // interface types of cells that functions assert to, by key
	implementing map[string]bool              // pairs of a type and such an interface that the runtime knows
}

// Storage is a package-level variable of yaegi, which holds a variable of the session.
type Storage struct {
	name     string
	typ      types.Type
	pointer  reflect.Value        // to the variable; set when the cell that declares it starts
	captured bool                 // a pointer or a generic function may use it for ever
	users    map[*check.Text]bool // cells with functions that use it; true if the cell declares such a function
}

// New returns the empty program of a checker's session.
func New(k *check.Checker) *Program {
	return &Program{
		checker: k, names: map[types.Object]string{}, types: map[string]*types.TypeName{}, storage: map[string]*Storage{}, order: map[string]int{},
		callers: newCallers(), unnamed: unnamed{enough: manyTypes, released: map[*types.TypeName]bool{}},
		free: map[string][]*Storage{}, version: map[string]int{}, converters: map[string]converter{}, asserted: map[string]types.Type{},
		implementing: map[string]bool{}, instances: map[types.Object][]*instance{}, pinned: map[types.Object]bool{},
	}
}

// Bind notes where yaegi keeps the variable of a name: pointer points to it.
func (p *Program) Bind(name string, pointer reflect.Value) {
	if s := p.storage[name]; s != nil {
		s.pointer = pointer
	}
}

// Type returns the type of cells that has a name in yaegi, nil if none has.
func (p *Program) Type(name string) *types.TypeName { return p.types[name] }

// Variable is a variable of the session.
type Variable struct {
	Name  string
	Type  types.Type
	Value reflect.Value // the variable itself, as yaegi keeps it
}

// Variables lists those of the session in the order of their definition, but for those of a cell that has not run.
func (p *Program) Variables() []Variable {
	var list []Variable
	for _, name := range slices.SortedFunc(maps.Keys(p.order), func(a, b string) int { return p.order[a] - p.order[b] }) {
		if s := p.variable(name); s != nil && s.pointer.IsValid() {
			list = append(list, Variable{name, s.typ, s.pointer.Elem()})
		}
	}
	return list
}

// variable returns the storage of the session's variable name, nil when it is not one.
func (p *Program) variable(name string) *Storage {
	v, ok := p.checker.Objects()[name].(*types.Var)
	if !ok {
		return nil
	}
	return p.storage[p.names[v]]
}

// Reclaim makes storage that a variable has left available to other variables of its type if nothing uses it any more. It returns true if there is no need to
// call it for this storage again. Gone says whether the functions of a cell can run no more: all, or those that it does not declare.
func (p *Program) Reclaim(s *Storage, gone func(user *check.Text, declared bool) bool) bool {
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

// release makes storage that nothing uses any more available to other variables of its type.
func (p *Program) release(s *Storage) {
	key := types.TypeString(s.typ, nil)
	p.free[key] = append(p.free[key], s)
}

// newName makes a name for yaegi that no source can spell.
func (p *Program) newName(name string) string {
	p.version[name]++
	return fmt.Sprintf("%s#%d", name, p.version[name])
}

// newTypeName makes a name for a type: reflection wants letters, and programs print it where the type is embedded, so the first of a name keeps that, but for those
// of packages: what is in a function of another package may have their names.
func (p *Program) newTypeName(name string, ofPackage bool) string {
	p.version[name]++
	if n := p.version[name]; n > 1 || ofPackage || types.Universe.Lookup(name) != nil {
		return fmt.Sprintf("%s%s%d", name, run.TypeVersion, n)
	}
	return name
}

// forget drops the name of an object that means something else now, unless a generic declaration may still be instantiated that uses it.
func (p *Program) forget(obj types.Object) {
	if !p.pinned[obj] {
		delete(p.names, obj)
	}
}

// instance is a generic declaration with type arguments: a function or type of its own in yaegi.
type instance struct {
	obj  types.Object // the generic function or type
	args []types.Type
	name string          // in yaegi
	typ  *types.TypeName // of a type: what it is called where it is printed

	fresh string // of a function that is defined again: the name of that definition, which takes the place of the other
}

// converter is a function of yaegi that converts values to an interface type.
type converter struct {
	name     string
	from, to types.Type
	boxes    bool // to is an interface of cells that has methods
}

// callers are the functions of the session that use functions of it.
type callers struct {
	of    map[string]map[string]string // by the name in yaegi of the function that is used: the cells of those that use it, by name
	calls map[string][]string          // the functions in yaegi that one uses, by its name
}

func newCallers() callers { return callers{map[string]map[string]string{}, map[string][]string{}} }

// unnamed are types whose name means something else now.
type unnamed struct {
	list     []OldType                // that the session may refer to
	enough   int                      // how many there have to be until it is looked which of them it does refer to
	released map[*types.TypeName]bool // that it does not refer to any more, and that may not be spelled
}

// manyTypes are enough to look in a small session.
const manyTypes = 16

// OldType is a type whose name means something else now.
type OldType struct {
	Name string // in yaegi
	Type *types.TypeName
}

// spelled lists the declared types that cells can name, by their name in yaegi.
func (p *Program) spelled() (list []types.Object) {
	for _, t := range p.types {
		if !p.unnamed.released[t] {
			list = append(list, t)
		}
	}
	return list
}
