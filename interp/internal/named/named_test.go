package named

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"unsafe"
)

func TestCheck(t *testing.T) {
	if err := Check(); err != nil {
		t.Fatal(err)
	}
}

// point returns a struct type with a String method by value and a Move method by pointer.
func point(t *testing.T) reflect.Type {
	t.Helper()
	n := New(Package{"example.com/shapes", "shapes"}, "Point", reflect.TypeFor[struct {
		X, y int
		next *int
	}](), 4)
	n.CompleteStruct([]Field{
		{Name: "X", Exported: true, Type: reflect.TypeFor[int](), Tag: `json:"x"`},
		{Name: "y", Type: reflect.TypeFor[int]()},
		{Name: "Next", Exported: true, Type: reflect.PointerTo(n.Reflect()), Tag: `json:",omitempty"`},
	})
	type layout struct {
		x, y int
		next *layout
	}
	err := n.Methods([]Method{
		{Name: "String", Type: reflect.TypeFor[func() string](), Call: func(r unsafe.Pointer, _ []reflect.Value) []reflect.Value {
			p := (*layout)(r)
			return []reflect.Value{reflect.ValueOf(fmt.Sprintf("<%d %d>", p.x, p.y))}
		}},
		{Name: "Move", Type: reflect.TypeFor[func(dx float64, s string, by ...int) (int, error)](), Pointer: true,
			Call: func(r unsafe.Pointer, args []reflect.Value) []reflect.Value {
				runtime.GC()
				p := (*layout)(r)
				p.x += int(args[0].Float()) + len(args[1].String()) + args[2].Len()
				return []reflect.Value{reflect.ValueOf(p.x), reflect.Zero(reflect.TypeFor[error]())}
			}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return n.Reflect()
}

func TestStruct(t *testing.T) {
	p := point(t)
	v := reflect.New(p)
	v.Elem().Field(0).SetInt(3)
	v.Elem().Field(2).Set(reflect.New(p))
	x := v.Elem().Interface()
	if got := p.PkgPath(); got != "example.com/shapes" {
		t.Errorf("the path of its package is %s", got)
	}
	for format, want := range map[string]string{
		"%v": "<3 0>", "%T": "shapes.Point", "%x": "3c3320303e", "%q": `"<3 0>"`,
	} {
		if got := fmt.Sprintf(format, x); got != want {
			t.Errorf("%s prints %s, want %s", format, got, want)
		}
	}
	if got := fmt.Sprintf("%v %T", []any{x, v.Interface()},
		reflect.MakeMap(reflect.MapOf(p, reflect.PointerTo(p))).Interface()); got != "[<3 0> <3 0>] map[shapes.Point]*shapes.Point" {
		t.Error(got)
	}
	if b, err := json.Marshal(x); err != nil || string(b) != `{"x":3,"Next":{"x":0}}` {
		t.Errorf("%s %v", b, err)
	}
	mover, ok := v.Interface().(interface {
		Move(float64, string, ...int) (int, error)
	})
	if !ok {
		t.Fatal("a pointer does not have the method")
	}
	if n, err := mover.Move(2, "abc", 1, 1); n != 10 || err != nil {
		t.Errorf("Move returns %d, %v", n, err)
	}
	out := v.MethodByName("Move").Call([]reflect.Value{reflect.ValueOf(1.0), reflect.ValueOf(""), reflect.ValueOf(5)})
	if out[0].Int() != 12 {
		t.Errorf("Move by reflection returns %v", out)
	}
	if _, ok := x.(interface {
		Move(float64, string, ...int) (int, error)
	}); ok {
		t.Error("a value has the pointer's method")
	}
	if x == v.Elem().Interface() || x != x {
		t.Error("values are not compared")
	}
}

func TestKinds(t *testing.T) {
	said := Method{Name: "String", Type: reflect.TypeFor[func() string]()}
	for _, test := range []struct {
		value any
		say   func(unsafe.Pointer) string
		want  string
	}{
		{7, func(p unsafe.Pointer) string { return fmt.Sprint(*(*int)(p)) }, "7"},
		{"s", func(p unsafe.Pointer) string { return *(*string)(p) }, "s"},
		{[]int{1}, func(p unsafe.Pointer) string { return fmt.Sprint(*(*[]int)(p)) }, "[1]"},
		{map[string]int{"a": 1}, func(p unsafe.Pointer) string { return fmt.Sprint(*(*map[string]int)(p)) }, "map[a:1]"},
		{func(a int, b ...string) bool { return true }, func(p unsafe.Pointer) string {
			return fmt.Sprint((*(*func(int, ...string) bool)(p))(1))
		}, "true"},
		{[2]bool{true}, func(p unsafe.Pointer) string { return fmt.Sprint(*(*[2]bool)(p)) }, "[true false]"},
	} {
		from := reflect.TypeOf(test.value)
		n := New(Package{"main", "main"}, "T", from, 1)
		n.Complete(from)
		said.Call = func(p unsafe.Pointer, _ []reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.ValueOf(test.say(p))}
		}
		if err := n.Methods([]Method{said}); err != nil {
			t.Fatal(err)
		}
		v := reflect.ValueOf(test.value).Convert(n.Reflect())
		if got := fmt.Sprintf("%v %T", v.Interface(), v.Interface()); got != test.want+" main.T" {
			t.Errorf("%s prints %s", from, got)
		}
		if got := n.Reflect().Method(0).Func.Call([]reflect.Value{v})[0].String(); got != test.want {
			t.Errorf("%s says %s by way of its type", from, got)
		}
		p := reflect.New(n.Reflect())
		p.Elem().Set(v)
		if got := fmt.Sprintf("%v %T", p.Interface(), p.Interface()); got != test.want+" *main.T" {
			t.Errorf("*%s prints %s", from, got)
		}
		if back := v.Convert(from); from.Comparable() && back.Interface() != test.value {
			t.Errorf("%v converts back to %v", v, back)
		}
	}
}

// TestCollection runs the garbage collector over descriptors, values and frames.
func TestCollection(t *testing.T) {
	p := point(t)
	m := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[int](), reflect.PointerTo(p)))
	for i := range 2000 {
		v := reflect.New(p)
		v.Elem().Field(0).SetInt(int64(i))
		m.SetMapIndex(reflect.ValueOf(i), v)
		if i%500 == 0 {
			runtime.GC()
			v.MethodByName("Move").Call([]reflect.Value{reflect.ValueOf(0.0), reflect.ValueOf("")})
		}
	}
	runtime.GC()
	for i := range 2000 {
		if got := fmt.Sprint(m.MapIndex(reflect.ValueOf(i)).Interface()); got != fmt.Sprintf("<%d 0>", i) {
			t.Fatalf("%d: %s", i, got)
		}
	}
}
