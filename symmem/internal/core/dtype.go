package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/element"

// DType is the type of a tensor's elements. Only the constants are types; another value has no size
// and is refused. Default stands for a type where a tensor is made.
type DType uint8

// The element types. F8E4M3 and F8E5M2 are storage: they can be filled, copied and read, and of the
// reductions only ReduceScatter takes them. I16 and U16 are calculated with, but not reduced between
// ranks. A Bool is a byte that is 0 or 1. C64 and C128 are complex numbers: pairs of F32 and of F64,
// the real part first.
const (
	F16 DType = iota + 236 // see element.Type
	BF16
	F32
	F64
	I8
	U8
	I32
	U32
	I64
	U64
	F8E4M3
	F8E5M2
	I16
	U16
	Bool
	C64
	C128
)

// Default, given where a tensor is made, is the type that SetDefaultDType has set; F32 before.
const Default DType = 0

// SetDefaultDType sets the type that Default stands for on this rank, for tensors made from now on. It
// is not collective, but collective calls such as Empty compare the types of all ranks.
//
// PyTorch: torch.set_default_dtype, which takes floating types only.
//
// Errors: KindMisuse for a value that is no element type.
func (rt *Runtime) SetDefaultDType(dtype DType) {
	const op = "SetDefaultDType"
	rt.refuseClosed(op)
	rt.numel(op, dtype, nil)
	rt.defaultType.Store(uint32(dtype))
}

// DefaultDType is the type that Default stands for on this rank.
func (rt *Runtime) DefaultDType() DType {
	if d := DType(rt.defaultType.Load()); d != 0 {
		return d
	}
	return F32
}

// typed returns the type that a call was given, by itself or as Default.
func (rt *Runtime) typed(d DType) DType {
	if d == Default {
		return rt.DefaultDType()
	}
	return d
}

// Size is the bytes of an element.
func (d DType) Size() int { return d.element().Size() }

// String is the name used in messages and kernels: "bf16".
func (d DType) String() string { return d.element().String() }

// element is the same type, with the methods that programs do not see.
func (d DType) element() element.Type { return element.Type(d) }

const _ = uint(element.C128-element.Type(C128)) + uint(element.Type(C128)-element.C128) // the types are numbered alike
