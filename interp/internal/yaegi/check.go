package yaegi

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// check checks, once per process, that yaegi and package reflect are as this package expects.
var check = sync.OnceValue(func() error {
	err := errors.Join(
		match(reflect.TypeFor[interpreter](), reflect.TypeFor[interp.Interpreter]()),
		match(reflect.TypeFor[program](), reflect.TypeFor[interp.Program]()),
		findKinds(),
		checkValue(),
		findMade())
	if err != nil {
		return fmt.Errorf("interp: yaegi %s is not %s, or Go not what it was:\n%w", linked(), Version, err)
	}
	return nil
})

// linked returns the version of yaegi that is linked into the program, as far as the program knows.
func linked() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == modulePath {
				return m.Version
			}
		}
	}
	return "of a version that is not known"
}

// match compares a type of this package with the corresponding type of yaegi, including all types
// in them.
func match(ours, theirs reflect.Type) error {
	m := matching{}
	m.match(theirs.String(), ours, theirs)
	return errors.Join(m.errs...)
}

type matching struct {
	seen map[[2]reflect.Type]bool
	errs []error
}

// match compares the types at one place.
func (m *matching) match(at string, ours, theirs reflect.Type) {
	pair := [2]reflect.Type{ours, theirs}
	if m.seen[pair] || ours == theirs {
		return
	}
	if m.seen == nil {
		m.seen = map[[2]reflect.Type]bool{}
	}
	m.seen[pair] = true
	switch {
	case theirs == reflect.TypeFor[reflect.Value]() && ours == reflect.TypeFor[Value](): // see checkValue
	case ours == reflect.TypeFor[unsafe.Pointer]() && theirs.Kind() == reflect.Pointer:
	case ours.Kind() != theirs.Kind() || ours.Size() != theirs.Size():
		m.fail("%s is a %s of %d bytes, not a %s of %d", at, theirs.Kind(), theirs.Size(), ours.Kind(), ours.Size())
	case ours.Kind() == reflect.Struct:
		m.fields(ours, theirs)
	case ours.Kind() == reflect.Map:
		m.match(at, ours.Key(), theirs.Key())
		m.match(at, ours.Elem(), theirs.Elem())
	case ours.Kind() == reflect.Pointer, ours.Kind() == reflect.Slice, ours.Kind() == reflect.Chan:
		m.match(at, ours.Elem(), theirs.Elem())
	case ours.Kind() == reflect.Func:
		m.function(at, ours, theirs)
	case ours.Kind() == reflect.Interface:
		m.fail("%s is a %s, not a %s", at, theirs, ours)
	}
}

func (m *matching) fields(ours, theirs reflect.Type) {
	if ours.NumField() != theirs.NumField() {
		m.fail("%s has %d fields, not %d", theirs, theirs.NumField(), ours.NumField())
	}
	for f := range ours.Fields() {
		t, ok := theirs.FieldByName(f.Name)
		switch at := theirs.String() + "." + f.Name; {
		case !ok:
			m.fail("there is no %s", at)
		case t.Offset != f.Offset:
			m.fail("%s is at %d, not %d", at, t.Offset, f.Offset)
		default:
			m.match(at, f.Type, t.Type)
		}
	}
}

func (m *matching) function(at string, ours, theirs reflect.Type) {
	if ours.NumIn() != theirs.NumIn() || ours.NumOut() != theirs.NumOut() {
		m.fail("%s is a %s, not a %s", at, theirs, ours)
		return
	}
	for i := range ours.NumIn() {
		m.match(at, ours.In(i), theirs.In(i))
	}
	for i := range ours.NumOut() {
		m.match(at, ours.Out(i), theirs.Out(i))
	}
}

func (m *matching) fail(format string, args ...any) {
	m.errs = append(m.errs, fmt.Errorf(format, args...))
}

// theirNode is yaegi's type of a Node.
var theirNode reflect.Type

// findKinds sets kinds, actions and theirNode.
func findKinds() error {
	root, ok := reflect.TypeFor[interp.Program]().FieldByName("root")
	if !ok || root.Type.Kind() != reflect.Pointer {
		return nil // match has reported it
	}
	theirNode = root.Type.Elem()
	return errors.Join(
		findNumbers("kind", map[string]*uint{
			"funcType": &kinds.funcType, "funcDecl": &kinds.funcDecl, "funcLit": &kinds.funcLit, "assignStmt": &kinds.assignStmt,
			"returnStmt": &kinds.returnStmt, "goStmt": &kinds.goStmt, "deferStmt": &kinds.deferStmt, "defineXStmt": &kinds.defineXStmt,
			"assignXStmt": &kinds.assignXStmt, "exprStmt": &kinds.exprStmt, "addressExpr": &kinds.addressExpr, "callExpr": &kinds.callExpr,
		}),
		findNumbers("action", map[string]*uint{"callSlice": &actions.callSlice}))
}

// findNumbers sets numbers by their names. The type of a node's field has fewer than 100 numbers,
// with names.
func findNumbers(name string, of map[string]*uint) error {
	field, ok := theirNode.FieldByName(name)
	if !ok || field.Type.Kind() != reflect.Uint {
		return nil // match has reported it
	}
	numbers := map[string]uint{}
	for value, number := reflect.New(field.Type).Elem(), uint(0); number < 100; number++ {
		value.SetUint(uint64(number))
		numbers[fmt.Sprint(value.Interface())] = number
	}
	for name, of := range of {
		number, ok := numbers[name]
		if !ok {
			return fmt.Errorf("there is no %s %s", field.Type, name)
		}
		*of = number
	}
	return nil
}

// checkValue checks that a reflect.Value has the layout of a Value.
func checkValue() error {
	number := 7
	v := reflect.ValueOf(&number).Elem()
	if unsafe.Sizeof(v) != unsafe.Sizeof(Value{}) || !valueOf(&v).isVariable(reflect.Int) || valueOf(&v).ptr != unsafe.Pointer(&number) {
		return errors.New("a reflect.Value is not a type, a pointer and a flag")
	}
	return nil
}
