package generics

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Native returns the compiled instance of a function for slices of a basic type. The key consists
// of import path, name and type arguments as types.TypeString writes them:
// "slices.Sort[[]int,int]". The compiled instance does the same as the interpreted one, but faster.
func Native(key string) (reflect.Value, bool) {
	v, ok := natives()[key]
	return v, ok
}

// natives is made at its first use, because most sessions do not need it.
var natives = sync.OnceValue(func() map[string]reflect.Value {
	table := map[string]reflect.Value{}
	ordered[int](table, "int")
	ordered[int8](table, "int8")
	ordered[int16](table, "int16")
	ordered[int32](table, "int32", "rune")
	ordered[int64](table, "int64")
	ordered[uint](table, "uint")
	ordered[uint8](table, "uint8", "byte")
	ordered[uint16](table, "uint16")
	ordered[uint32](table, "uint32")
	ordered[uint64](table, "uint64")
	ordered[uintptr](table, "uintptr")
	ordered[float32](table, "float32")
	ordered[float64](table, "float64")
	ordered[string](table, "string")
	return table
})

func ordered[E cmp.Ordered](table map[string]reflect.Value, names ...string) {
	for _, name := range names {
		of := func(f string, value any) {
			table[fmt.Sprintf("slices.%s[[]%s,%s]", f, name, name)] = reflect.ValueOf(value)
		}
		of("BinarySearch", slices.BinarySearch[[]E])
		of("Clone", slices.Clone[[]E])
		of("Compact", slices.Compact[[]E])
		of("Compare", slices.Compare[[]E])
		of("Concat", slices.Concat[[]E])
		of("Contains", slices.Contains[[]E])
		of("Delete", slices.Delete[[]E])
		of("Equal", slices.Equal[[]E])
		of("Index", slices.Index[[]E])
		of("Insert", slices.Insert[[]E])
		of("IsSorted", slices.IsSorted[[]E])
		of("Max", slices.Max[[]E])
		of("Min", slices.Min[[]E])
		of("Repeat", slices.Repeat[[]E])
		of("Replace", slices.Replace[[]E])
		of("Reverse", slices.Reverse[[]E])
		of("Sort", slices.Sort[[]E])
		of("SortFunc", slices.SortFunc[[]E])
		of("SortStableFunc", slices.SortStableFunc[[]E])
		table["cmp.Compare["+name+"]"] = reflect.ValueOf(cmp.Compare[E])
		table["cmp.Less["+name+"]"] = reflect.ValueOf(cmp.Less[E])
	}
}
