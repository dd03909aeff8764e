package named

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
)

// labels has types that are used only for their names.
var labels sync.Map

func label(name string) *header {
	if t, ok := labels.Load(name); ok {
		return t.(*header)
	}
	n := New(Package{}, name, reflect.TypeFor[struct{}](), 0)
	n.CompleteStruct(nil)
	t, _ := labels.LoadOrStore(name, n.t)
	return t.(*header)
}

// AssertionError returns the error of a failed type assertion, given the names of the interface
// type, of the type in the interface (or ""), of the asserted type, and of the missing method (or
// "").
func AssertionError(from, held, to, missing string) *runtime.TypeAssertionError {
	e := new(runtime.TypeAssertionError)
	v := reflect.ValueOf(e).Elem()
	for name, text := range map[string]string{"_interface": from, "concrete": held, "asserted": to} {
		if text != "" {
			*(**header)(v.FieldByName(name).Addr().UnsafePointer()) = label(text)
		}
	}
	*(*string)(v.FieldByName("missingMethod").Addr().UnsafePointer()) = missing
	return e
}

// checkAssertion is the part of Check that covers AssertionError.
func checkAssertion() error {
	t := reflect.TypeFor[runtime.TypeAssertionError]()
	for name, kind := range map[string]reflect.Kind{
		"_interface": reflect.Pointer, "concrete": reflect.Pointer, "asserted": reflect.Pointer, "missingMethod": reflect.String,
	} {
		if f, ok := t.FieldByName(name); !ok || f.Type.Kind() != kind {
			return fmt.Errorf("named: %s has no field %s of kind %s", t, name, kind)
		}
	}
	const want = "interface conversion: main.I is main.T, not main.U"
	if got := AssertionError("main.I", "main.T", "main.U", "").Error(); got != want {
		return fmt.Errorf("named: the error of an assertion says %q", got)
	}
	return nil
}
