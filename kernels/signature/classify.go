package signature

import (
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// Base is the base of a type.
type Base uint8

// The bases that a launch can fill.
const (
	Unknown Base = iota // a user's type, a typedef or a reference: only its size can be checked
	Void
	Bool
	Int
	Uint
	Float // IEEE, 4 or 8 bytes
	Half
	BFloat16
	Float8E4M3
	Float8E5M2
	Handle // symm::Handle
	Window // ncclWindow_t
	Comm   // ncclDevComm
)

// Type is a parsed type.
type Type struct {
	Base     Base
	Size     int // bytes of one lane of the base; 0 for Unknown, Void, Handle and Comm
	Lanes    int // 4 for float4, 1 for float
	Pointers int // number of stars
	Const    bool
}

// Classify parses the text of a parameter's type. It ignores qualifiers except for a leading or
// inner const.
func Classify(text string) Type {
	toks, err := cudalex.Tokens(text)
	if err != nil {
		return Type{}
	}
	var t Type
	var name []string
	for i, tok := range toks {
		switch {
		case tok.Text == "*":
			t.Pointers++
		case tok.Text == "const":
			t.Const = t.Const || t.Pointers == 0
		case tok.Kind == cudalex.Word && isQualifier(tok.Text):
		case tok.Text == "::":
			// "std", "symm" and the like only qualify a name.
			if i > 0 && len(name) > 0 && toks[i-1].Kind == cudalex.Word {
				if !isHome(name[len(name)-1]) {
					return Type{}
				}
				name = name[:len(name)-1]
			}
		case tok.Kind == cudalex.Word && t.Pointers == 0:
			name = append(name, tok.Text)
		default:
			return Type{} // references, templates, functions
		}
	}
	base, ok := lookup(name)
	if !ok {
		return Type{Pointers: t.Pointers, Const: t.Const, Lanes: 1}
	}
	base.Pointers, base.Const = t.Pointers, t.Const
	return base
}

func isHome(namespace string) bool {
	return namespace == "std" || namespace == "cuda" || namespace == "symm"
}

func lookup(name []string) (Type, bool) {
	if len(name) == 1 {
		if t, ok := named(name[0]); ok {
			return t, true
		}
		if n := len(name[0]) - 1; n > 0 && name[0][n] >= '1' && name[0][n] <= '4' {
			if t, ok := vector(name[0][:n]); ok {
				t.Lanes = int(name[0][n] - '0')
				return t, true
			}
		}
	}
	return builtin(name)
}

// named returns the type with a one-word name, in any namespace.
func named(s string) (Type, bool) {
	switch s {
	case "Handle":
		return Type{Base: Handle, Lanes: 1}, true
	case "ncclWindow_t":
		return Type{Base: Window, Size: 8, Lanes: 1}, true
	case "ncclDevComm", "ncclDevComm_t":
		return Type{Base: Comm, Lanes: 1}, true
	case "ncclDevResourceHandle", "ncclDevResourceHandle_t", "ncclGinSignal_t", "ncclGinCounter_t":
		return Type{Base: Uint, Size: 4, Lanes: 1}, true
	case "half", "__half", "f16", "float16_t":
		return Type{Base: Half, Size: 2, Lanes: 1}, true
	case "__nv_bfloat16", "nv_bfloat16", "bf16", "bfloat16_t":
		return Type{Base: BFloat16, Size: 2, Lanes: 1}, true
	case "half2", "__half2":
		return Type{Base: Half, Size: 2, Lanes: 2}, true
	case "__nv_bfloat162", "nv_bfloat162":
		return Type{Base: BFloat16, Size: 2, Lanes: 2}, true
	case "cuComplex", "cuFloatComplex":
		return Type{Base: Float, Size: 4, Lanes: 2}, true
	case "cuDoubleComplex":
		return Type{Base: Float, Size: 8, Lanes: 2}, true
	case "__nv_fp8_e4m3", "f8e4m3":
		return Type{Base: Float8E4M3, Size: 1, Lanes: 1}, true
	case "__nv_fp8_e5m2", "f8e5m2":
		return Type{Base: Float8E5M2, Size: 1, Lanes: 1}, true
	case "int8_t":
		return Type{Base: Int, Size: 1, Lanes: 1}, true
	case "int16_t", "i16":
		return Type{Base: Int, Size: 2, Lanes: 1}, true
	case "int32_t":
		return Type{Base: Int, Size: 4, Lanes: 1}, true
	case "int64_t", "ssize_t", "ptrdiff_t", "intptr_t":
		return Type{Base: Int, Size: 8, Lanes: 1}, true
	case "uint8_t", "uchar", "byte":
		return Type{Base: Uint, Size: 1, Lanes: 1}, true
	case "uint16_t", "ushort":
		return Type{Base: Uint, Size: 2, Lanes: 1}, true
	case "uint32_t", "uint":
		return Type{Base: Uint, Size: 4, Lanes: 1}, true
	case "uint64_t", "size_t", "uintptr_t", "ulong":
		return Type{Base: Uint, Size: 8, Lanes: 1}, true
	}
	return Type{}, false
}

// vector returns the type with a name of one of CUDA's vector types.
func vector(s string) (Type, bool) {
	switch s {
	case "char":
		return Type{Base: Int, Size: 1}, true
	case "uchar":
		return Type{Base: Uint, Size: 1}, true
	case "short":
		return Type{Base: Int, Size: 2}, true
	case "ushort":
		return Type{Base: Uint, Size: 2}, true
	case "int":
		return Type{Base: Int, Size: 4}, true
	case "uint":
		return Type{Base: Uint, Size: 4}, true
	case "long", "longlong":
		return Type{Base: Int, Size: 8}, true
	case "ulong", "ulonglong":
		return Type{Base: Uint, Size: 8}, true
	case "float":
		return Type{Base: Float, Size: 4}, true
	case "double":
		return Type{Base: Float, Size: 8}, true
	}
	return Type{}, false
}

// builtin parses type keywords in any order: "unsigned long long int".
func builtin(name []string) (Type, bool) {
	count := map[string]int{}
	for _, w := range name {
		if !isTypeWord(w) {
			return Type{}, false
		}
		count[w]++
	}
	integer := Type{Base: Int, Size: 4, Lanes: 1}
	if count["unsigned"] > 0 {
		integer.Base = Uint
	}
	switch {
	case len(name) == 0:
		return Type{}, false
	case count["void"] > 0:
		return Type{Base: Void, Lanes: 1}, len(name) == 1
	case count["bool"] > 0:
		return Type{Base: Bool, Size: 1, Lanes: 1}, len(name) == 1
	case count["float"] > 0:
		return Type{Base: Float, Size: 4, Lanes: 1}, len(name) == 1
	case count["double"] > 0:
		return Type{Base: Float, Size: 8, Lanes: 1}, len(name) == 1
	case count["char"] > 0:
		integer.Size = 1
	case count["short"] > 0:
		integer.Size = 2
	case count["long"] > 0:
		integer.Size = 8
	case count["int"]+count["unsigned"]+count["signed"] == 0:
		return Type{}, false // auto and the wide characters
	}
	return integer, true
}

// String returns the name of the base for error messages.
func (b Base) String() string {
	return strings.Fields("unknown void bool int uint float half bfloat16 e4m3 e5m2 handle window communicator")[b]
}
