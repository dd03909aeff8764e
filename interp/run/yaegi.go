package run

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/internal/unexported"
	"github.com/traefik/yaegi/interp"
)

// Yaegi is an interpreter with the few fields that it has no exported way to. Every use is by name and type, checked once when
// an interpreter is made, so that another version is an error at the start and never a corrupted session.
type Yaegi struct {
	*interp.Interpreter
	runID *uint64          // the number that live frames carry
	done  chan struct{}    // ends the channel operation that receives from it
	roots reflect.Value    // every tree ever compiled, kept for a debugger
	types *[]reflect.Type  // of the package-level variables, by their place in frame
	frame *[]reflect.Value // the package-level variables that executed programs have declared
	boxes reflect.Type     // of values in interfaces with methods
	held  uintptr          // where in one of those the value is
	nodes *nodes           // where the nodes of trees have their fields
}

// programRoot is the field of a compiled program that points to its tree.
const programRoot = "root"

// Tree returns a pointer into the tree of a compiled program, for runtime.AddCleanup: positions and function literals of the program are in use as long as the tree
// is reachable.
func Tree(p *interp.Program) *byte {
	return (*byte)(reflect.ValueOf(p).Elem().FieldByName(programRoot).UnsafePointer())
}

// openYaegi looks whether an interpreter has the fields that are needed.
func openYaegi(y *interp.Interpreter) (*Yaegi, error) {
	v := reflect.ValueOf(y).Elem()
	id, err := unexported.Field(v, "id", reflect.Uint64)
	if err != nil {
		return nil, err
	}
	roots, err := unexported.Field(v, "roots", reflect.Slice)
	if err != nil {
		return nil, err
	}
	done, err := unexported.Field(v, "done", reflect.Chan)
	if err != nil {
		return nil, err
	}
	cancelChan, err := unexported.Field(v, "cancelChan", reflect.Bool)
	if err != nil {
		return nil, err
	}
	cancelChan.SetBool(true) // channel operations watch done
	// One channel for all time: closures keep that of their cell.
	ch, ok := done.Addr().Interface().(*chan struct{})
	if !ok {
		return nil, fmt.Errorf("interp: the channel that ends operations is a %s", done.Type())
	}
	*ch = make(chan struct{})
	if _, err := unexported.Field(v, "scopes", reflect.Map); err != nil {
		return nil, err
	}
	nodes, err := newNodes()
	if err != nil {
		return nil, err
	}
	types, frame, err := globals(v)
	if err != nil {
		return nil, err
	}
	return &Yaegi{nodes: nodes, runID: (*uint64)(id.Addr().UnsafePointer()), done: *ch, roots: roots, types: types, frame: frame, Interpreter: y}, nil
}

// globals returns where an interpreter keeps its package-level variables, and their types.
func globals(y reflect.Value) (types *[]reflect.Type, frame *[]reflect.Value, err error) {
	universe, err := unexported.Field(y, "universe", reflect.Pointer)
	if err != nil {
		return nil, nil, err
	}
	list, err := unexported.Field(universe.Elem(), "types", reflect.Slice)
	if err != nil {
		return nil, nil, err
	}
	f, err := unexported.Field(y, "frame", reflect.Pointer)
	if err != nil {
		return nil, nil, err
	}
	data, err := unexported.Field(f.Elem(), "data", reflect.Slice)
	if err != nil {
		return nil, nil, err
	}
	types, ok1 := list.Addr().Interface().(*[]reflect.Type)
	frame, ok2 := data.Addr().Interface().(*[]reflect.Value)
	if !ok1 || !ok2 {
		return nil, nil, fmt.Errorf("interp: package-level variables are %s of %s", data.Type(), list.Type())
	}
	return types, frame, nil
}

// execute runs a compiled program. It makes room for the variables that the program declares before yaegi does, which copies all there are for each program.
func (s *Yaegi) execute(p *interp.Program) (reflect.Value, error) {
	for _, t := range (*s.types)[min(len(*s.frame), len(*s.types)):] {
		*s.frame = append(*s.frame, reflect.New(t).Elem())
		named.MendEqual(t, isBlankField)
	}
	return s.Execute(p)
}

// move makes other memory that of a package-level variable. It reports whether there is one at from.
func (s *Yaegi) move(from, to *int) bool {
	for i, v := range *s.frame {
		if v.CanAddr() && v.Addr().UnsafePointer() == unsafe.Pointer(from) {
			(*s.frame)[i] = reflect.ValueOf(to).Elem()
			return true
		}
	}
	return false
}

// Settle drops the syntax of variables that have been declared, which would keep the trees of whole cells.
func (s *Yaegi) Settle(variables []string) error {
	if len(variables) == 0 {
		return nil
	}
	main, err := s.main()
	if err != nil {
		return err
	}
	symbols, err := unexported.Field(main, "sym", reflect.Map)
	if err != nil {
		return err
	}
	for _, name := range variables {
		node, err := unexported.Field(symbols.MapIndex(reflect.ValueOf(name)).Elem(), "node", reflect.Pointer)
		if err != nil {
			return err
		}
		if node.IsNil() {
			continue
		}
		// The type of the variable may refer to the declaration.
		for _, field := range []struct {
			name string
			kind reflect.Kind
		}{{"anc", reflect.Pointer}, {"child", reflect.Slice}} {
			link, err := unexported.Field(node.Elem(), field.name, field.kind)
			if err != nil {
				return err
			}
			link.SetZero()
		}
		node.SetZero()
	}
	return nil
}

// stop makes all interpreted code end at its next step, as no frame carries the number any more, and waits on channels return. What it
// returns makes the frames live again: closures made before run as before.
func (s *Yaegi) stop() (resume func()) {
	id := atomic.AddUint64(s.runID, 1) - 1
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case s.done <- struct{}{}:
			case <-over:
				return
			}
		}
	}()
	return func() {
		close(over)
		<-gone // else it might end a channel operation of code that runs again
		atomic.StoreUint64(s.runID, id)
	}
}

// main returns yaegi's scope of the package of all cells.
func (s *Yaegi) main() (reflect.Value, error) {
	scopes, err := unexported.Field(reflect.ValueOf(s.Interpreter).Elem(), "scopes", reflect.Map)
	if err != nil {
		return scopes, err
	}
	main := scopes.MapIndex(reflect.ValueOf(check.PackageName))
	if !main.IsValid() {
		return main, errors.New("interp: there is no package " + check.PackageName)
	}
	return main.Elem(), nil
}

// Forget drops what yaegi keeps of compiled trees but never uses: without it every cell's tree would stay for ever.
func (s *Yaegi) Forget() error {
	s.roots.SetZero()
	main, err := s.main()
	if err != nil {
		return err
	}
	children, err := unexported.Field(main, "child", reflect.Slice)
	if err != nil {
		return err
	}
	children.SetZero()
	return nil
}

// Drop forgets the name of a function. Code that was compiled to call the function keeps it.
func (s *Yaegi) Drop(name string) error {
	main, err := s.main()
	if err != nil {
		return err
	}
	symbols, err := unexported.Field(main, "sym", reflect.Map)
	if err != nil {
		return err
	}
	symbols.SetMapIndex(reflect.ValueOf(name), reflect.Value{})
	return nil
}

// Replacement is a function or method that is defined again: its earlier callers hold old, which gets the contents of fresh.
type Replacement struct {
	Type       string // of a method, in yaegi
	Old, Fresh string
}

// ReplaceFunction puts the function or method fresh in the place of old: what was compiled to call old calls fresh from now on.
func (s *Yaegi) ReplaceFunction(r Replacement) error {
	main, err := s.main()
	if err != nil {
		return err
	}
	symbols, err := unexported.Field(main, "sym", reflect.Map)
	if err != nil {
		return err
	}
	if r.Type != "" {
		typ, err := unexported.Field(symbols.MapIndex(reflect.ValueOf(r.Type)).Elem(), "typ", reflect.Pointer)
		if err != nil {
			return err
		}
		return replaceNode(typ.Elem(), r)
	}
	var nodes [2]reflect.Value
	for i, name := range []string{r.Old, r.Fresh} {
		if nodes[i], err = unexported.Field(symbols.MapIndex(reflect.ValueOf(name)).Elem(), "node", reflect.Pointer); err != nil {
			return err
		}
	}
	symbols.SetMapIndex(reflect.ValueOf(r.Fresh), reflect.Value{})
	return copyNode(nodes[0], nodes[1])
}

// copyNode makes the node old stand for the function fresh.
func copyNode(old, fresh reflect.Value) error {
	old.Elem().Set(fresh.Elem())
	val, err := unexported.Field(old.Elem(), "val", reflect.Interface) // a function's node refers to itself
	if err != nil {
		return err
	}
	val.Set(old)
	return nil
}

// replaceNode replaces a method of a type in its list, and in that of the pointer to it.
func replaceNode(typ reflect.Value, r Replacement) error {
	methods, err := unexported.Field(typ, "method", reflect.Slice)
	if err != nil {
		return err
	}
	var old, fresh reflect.Value
	rest := reflect.MakeSlice(methods.Type(), 0, methods.Len())
	for i := range methods.Len() {
		m := methods.Index(i)
		ident, err := unexported.Field(m.Elem(), "ident", reflect.String)
		if err != nil {
			return err
		}
		switch ident.String() {
		case r.Old:
			old = m
		case r.Fresh:
			fresh = m
			continue
		}
		rest = reflect.Append(rest, m)
	}
	if old.IsValid() && fresh.IsValid() {
		if err := copyNode(old, fresh); err != nil {
			return err
		}
		ident, err := unexported.Field(old.Elem(), "ident", reflect.String)
		if err != nil {
			return err
		}
		ident.SetString(r.Old)
		methods.Set(rest)
	}
	ptr, err := unexported.Field(typ, "ptr", reflect.Pointer)
	if err != nil || ptr.IsNil() {
		return err
	}
	return replaceNode(ptr.Elem(), r)
}

// concrete returns the value that yaegi stores in an interface, and the name of its type in yaegi if it has one.
func (s *Yaegi) concrete(v reflect.Value) (_ reflect.Value, name string) {
	for v.IsValid() {
		switch {
		case v.Kind() == reflect.Interface:
			v = v.Elem()
		case IsWrapper(v):
			v = v.Field(0).Elem()
		case v.Type() == s.boxes:
			if !v.CanAddr() {
				c := reflect.New(v.Type()).Elem()
				c.Set(v)
				v = c
			}
			node, err1 := unexported.Field(v, "node", reflect.Pointer)
			value, err2 := unexported.Field(v, "value", reflect.Struct)
			if err1 != nil || err2 != nil {
				return v, name
			}
			if !node.IsNil() {
				if n := nodeType(node); n != "" { // a box in a box is of an interface type
					name = n
				}
			}
			inner, ok := value.Interface().(reflect.Value)
			if !ok {
				return v, name
			}
			v = inner
		default:
			return v, name
		}
	}
	return v, name
}

// box stores a compiled value in a variable of a cell's interface type.
func (s *Yaegi) box(target, v reflect.Value) bool {
	if target.Type() != s.boxes {
		return false
	}
	value, err := unexported.Field(target, "value", reflect.Struct)
	if err != nil {
		return false
	}
	node, err := unexported.Field(target, "node", reflect.Pointer)
	if err != nil {
		return false
	}
	of := reflect.New(node.Type().Elem())
	typ, err := unexported.Field(of.Elem(), "typ", reflect.Pointer)
	if err != nil {
		return false
	}
	typ.Set(reflect.New(typ.Type().Elem()))
	target.SetZero()
	node.Set(of) // one that says nothing: comparisons with nil look at it
	value.Set(reflect.ValueOf(v))
	return true
}

// IsWrapper reports whether v is what yaegi makes of a cell's value to give it the methods of a compiled interface.
func IsWrapper(v reflect.Value) bool {
	return v.Kind() == reflect.Struct && v.NumField() > 0 && v.Type().Field(0).Name == "IValue"
}

// nodeType returns the name of the type of a node of yaegi's tree, or of what it points to.
func nodeType(node reflect.Value) string {
	for at := "typ"; ; at = "val" {
		typ, err := unexported.Field(node.Elem(), at, reflect.Pointer)
		if err != nil || typ.IsNil() {
			return ""
		}
		name, err := unexported.Field(typ.Elem(), "name", reflect.String)
		if err != nil || name.String() != "" {
			return name.String()
		}
		node = typ
	}
}
