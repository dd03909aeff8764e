package interp

import (
	"fmt"
	"go/types"
	"reflect"
)

// scope is what the cells so far have defined.
type scope struct {
	imports      map[string]string       // path by the name cells use
	dots         []string                // paths of packages whose names need no qualifier
	objects      map[string]types.Object // variables, functions, types, constants by name
	order        []string                // of variables, by first definition
	names        map[types.Object]string // the name in yaegi of each object in use; types stay
	types        map[string]*types.TypeName
	storage      map[string]*storage       // of variables, by name in yaegi
	version      map[string]int            // last number given out, by name
	converters   map[string]string         // functions of our own that convert to interfaces, by types
	asserted     map[string]types.Type     // interface types of cells that functions assert to, by key
	implementing map[string]bool           // pairs of a type and such an interface that the runtime knows
	generics     map[types.Object]*generic // declarations
	instances    map[types.Object][]*instance
	locals       []*types.TypeName     // types of functions that have methods
	pinned       map[types.Object]bool // objects that generic declarations use
	free         map[string][]*storage // left by variables whose name means something else now, by type
}

// storage is a package-level variable of yaegi.
type storage struct {
	name     string
	typ      types.Type
	pointer  reflect.Value      // to the variable; set when the cell that declares it starts
	captured bool               // it may be used for ever, through a pointer
	users    map[*cellText]bool // cells with functions that use it; true for those with declared ones
}

func newScope() *scope {
	return &scope{
		imports: map[string]string{}, objects: map[string]types.Object{}, names: map[types.Object]string{},
		types: map[string]*types.TypeName{}, storage: map[string]*storage{}, version: map[string]int{},
		free: map[string][]*storage{}, converters: map[string]string{}, asserted: map[string]types.Type{}, implementing: map[string]bool{},
		generics: map[types.Object]*generic{}, instances: map[types.Object][]*instance{}, pinned: map[types.Object]bool{},
	}
}

// newName makes a name for yaegi that no source can spell.
func (s *scope) newName(name string) string {
	s.version[name]++
	return fmt.Sprintf("%s#%d", name, s.version[name])
}

// newTypeName makes a name for a type: reflection wants letters, and programs print it where the type is embedded, so the first of a name keeps that.
func (s *scope) newTypeName(name string) string {
	s.version[name]++
	if n := s.version[name]; n > 1 || types.Universe.Lookup(name) != nil {
		return fmt.Sprintf("%s%s%d", name, typeVersion, n)
	}
	return name
}

// typeVersion stands before the number of a type that was declared again: a letter that nobody types.
const typeVersion = "\u01c3"

// forget drops the name of an object that means something else now, unless a generic declaration may still be instantiated that uses it.
func (s *scope) forget(obj types.Object) {
	if !s.pinned[obj] {
		delete(s.names, obj)
	}
}

// variable returns the storage of the session's variable name, nil when it is not one.
func (s *scope) variable(name string) *storage {
	v, ok := s.objects[name].(*types.Var)
	if !ok {
		return nil
	}
	return s.storage[s.names[v]]
}

// release makes storage that nothing uses any more available to other variables of its type.
func (s *scope) release(st *storage) {
	key := types.TypeString(st.typ, nil)
	s.free[key] = append(s.free[key], st)
}
