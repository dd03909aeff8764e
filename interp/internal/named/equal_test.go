package named

import (
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestMendEqual checks that comparisons and hashes ignore blank fields of types made by package
// reflect, wherever the types are used.
func TestMendEqual(t *testing.T) {
	key := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[int]()}, {Name: "Blank1", Type: reflect.TypeFor[int]()}, {Name: "B", Type: reflect.TypeFor[string]()},
	})
	outer := reflect.StructOf([]reflect.StructField{{Name: "Keys", Type: reflect.ArrayOf(2, key)}})
	m := reflect.MapOf(outer, reflect.TypeFor[int]())
	MendEqual(reflect.PointerTo(m), func(name string) bool { return strings.HasPrefix(name, "Blank") })
	of := func(a, blank int, b string) reflect.Value {
		v := reflect.New(outer).Elem()
		k := v.Field(0).Index(1)
		k.Field(0).SetInt(int64(a))
		k.Field(1).SetInt(int64(blank))
		k.Field(2).SetString(b)
		return v
	}
	for _, c := range []struct {
		x, y reflect.Value
		want bool
	}{
		{of(1, 2, "a"), of(1, 3, "a"), true}, {of(1, 2, "a"), of(2, 2, "a"), false}, {of(1, 2, "a"), of(1, 2, "b"), false},
		{of(1, 2, "a"), of(1, 2, "aa"), false},
	} {
		if got := c.x.Interface() == c.y.Interface(); got != c.want {
			t.Errorf("%v == %v is %v", c.x, c.y, got)
		}
		table := reflect.MakeMap(m)
		table.SetMapIndex(c.x, reflect.ValueOf(1))
		if got := table.MapIndex(c.y).IsValid(); got != c.want {
			t.Errorf("that a map with %v has %v is %v", c.x, c.y, got)
		}
	}
}

// TestMendCompiled checks that MendEqual does not change types of compiled code, whose descriptors
// are read-only.
func TestMendCompiled(t *testing.T) {
	compiled := reflect.TypeFor[time.Time]()
	equal := codeOf(headerOf(compiled).equal)
	MendEqual(reflect.MapOf(compiled, compiled), func(string) bool { return true })
	if got := codeOf(headerOf(compiled).equal); got != equal {
		t.Error("the type compares values in another way")
	}
}

// TestOrder checks that the bytes of strings are compared last.
func TestOrder(t *testing.T) {
	typ := reflect.StructOf([]reflect.StructField{{Name: "S", Type: reflect.TypeFor[string]()}, {Name: "I", Type: reflect.TypeFor[int]()}})
	MendEqual(typ, func(string) bool { return false })
	unreadable, err := syscall.Mmap(-1, 0, 1, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(unreadable)
	x, y := reflect.New(typ).Elem(), reflect.New(typ).Elem()
	x.Field(0).SetString(unsafe.String(unsafe.SliceData(unreadable), 2))
	y.Field(0).SetString("ab")
	y.Field(1).SetInt(1)
	if x.Interface() == y.Interface() {
		t.Error("structs with other numbers are equal")
	}
}
