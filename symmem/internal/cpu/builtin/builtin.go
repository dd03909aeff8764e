//go:build linux && (amd64 || arm64)

package builtin

/*
#cgo CXXFLAGS: -std=c++20 -O2 -fno-exceptions -fno-rtti -fno-omit-frame-pointer -fno-strict-aliasing -fvisibility=hidden -g1 -D__forceinline__=inline
#cgo CXXFLAGS: -Wno-unknown-pragmas -Wno-invalid-offsetof -I${SRCDIR}/../emu/include -I${SRCDIR}/../../../../kernels/include -I${SRCDIR}/../../../../kernels
const void* symm_builtin_entries(long worker);
const void* symm_builtin_tables(void);

// Item and table are layout::Item and layout::Table.
typedef struct {
	const char* name;
	unsigned long long offset_or_value, size;
} item;
typedef struct table {
	const char* name;
	unsigned long long size, count;
	const item* items;
	const struct table* next;
} table;
*/
import "C"

import (
	"reflect"
	"slices"
	"unsafe"

	_ "github.com/symmrepl/symmrepl/kernels" // a change of the sources rebuilds this package
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
)

// Load returns the module of the built-in operations.
func Load() *emu.Module { return emu.Builtin(C.symm_builtin_entries(C.long(emu.Worker()))) }

// Struct is the C++ compiler's description of a struct that Go also declares.
type Struct struct {
	Name   string // without its namespace
	Size   uintptr
	Fields []Field
}

// Field is a field of a Struct.
type Field struct {
	Name         string
	Offset, Size uintptr
}

// Declarations returns the structs and, by group and name, the constants that the kernels' sources
// list with SYMM_LAYOUT and SYMM_VALUES. A declaration that several C++ files include is returned
// once. Tests compare them with Go's.
func Declarations() (structs []Struct, constants map[string]map[string]uint64) {
	constants = map[string]map[string]uint64{}
	for t := (*C.table)(C.symm_builtin_tables()); t != nil; t = t.next {
		name, items := C.GoString(t.name), unsafe.Slice(t.items, t.count)
		if t.size == 0 {
			constants[name] = map[string]uint64{}
			for _, i := range items {
				constants[name][C.GoString(i.name)] = uint64(i.offset_or_value)
			}
			continue
		}
		s := Struct{Name: name, Size: uintptr(t.size)}
		for _, i := range items {
			s.Fields = append(s.Fields, Field{C.GoString(i.name), uintptr(i.offset_or_value), uintptr(i.size)})
		}
		if !slices.ContainsFunc(structs, func(other Struct) bool { return reflect.DeepEqual(other, s) }) {
			structs = append(structs, s)
		}
	}
	return structs, constants
}
