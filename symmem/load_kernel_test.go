package symmem

import (
	"testing"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/signature"
	"unsafe"
)

// A type of Params has the size that compilers give it.
func TestParamTypes(t *testing.T) {
	for word, want := range map[string]signature.Type{
		"ptr": {Base: signature.Void, Pointers: 1, Lanes: 1}, "null": {Base: signature.Void, Pointers: 1, Lanes: 1},
		"*f32": {Base: signature.Float, Size: 4, Lanes: 1, Pointers: 1}, "*fp16": {Base: signature.Half, Size: 2, Lanes: 1, Pointers: 1},
		"*i64": {Base: signature.Int, Size: 8, Lanes: 1, Pointers: 1}, "const float*": {Base: signature.Float, Size: 4, Lanes: 1, Pointers: 1, Const: true},
		"i8": {Base: signature.Int, Size: 1, Lanes: 1}, "u16": {Base: signature.Uint, Size: 2, Lanes: 1}, "i1": {Base: signature.Bool, Size: 1, Lanes: 1},
		"bf16": {Base: signature.BFloat16, Size: 2, Lanes: 1}, "fp32": {Base: signature.Float, Size: 4, Lanes: 1}, "f64": {Base: signature.Float, Size: 8, Lanes: 1},
		"fp8e4nv": {Base: signature.Float8E4M3, Size: 1, Lanes: 1}, "f8e5m2": {Base: signature.Float8E5M2, Size: 1, Lanes: 1},
		"unsigned long long": {Base: signature.Uint, Size: 8, Lanes: 1}, "float4": {Base: signature.Float, Size: 4, Lanes: 4},
	} {
		size := want.Size * want.Lanes
		if want.Pointers > 0 {
			size = 8
		}
		if got, n := paramType(word); got != want || n != size {
			t.Errorf("%q is %+v of %d bytes, want %+v of %d", word, got, n, want, size)
		}
	}
	if _, n := paramType("handle"); n != int(unsafe.Sizeof(abi.Handle{})) {
		t.Errorf("a handle has %d bytes", n)
	}
	for _, word := range []string{"", "*", " ", "struct S", "Mine", "void", "int&", "ptr64", "handles", "std::vector<int>", "*i65*&", "f32 f32"} {
		if got, n := paramType(word); n != 0 {
			t.Errorf("%q is %+v of %d bytes, want none", word, got, n)
		}
	}
	if s := Params("ptr", "i64").String(); s != "ptr, i64" {
		t.Errorf("the list is %q", s)
	}
}
