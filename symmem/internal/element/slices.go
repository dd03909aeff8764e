package element

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"unsafe"
)

// EncodeSlice converts a slice of numbers to the bytes of as many elements, or returns the reason
// why that is impossible. The bytes may be the slice's own memory.
func (d Type) EncodeSlice(src any) (data []byte, n int, why string) {
	switch v := src.(type) {
	case []float32:
		if d == F32 {
			return Bytes(v), len(v), ""
		}
	case []float64:
		if d == F64 {
			return Bytes(v), len(v), ""
		}
	case []uint8:
		if d == U8 {
			return v, len(v), ""
		}
	case []bool:
		if d == Bool {
			return Bytes(v), len(v), ""
		}
	case []int16:
		if d == I16 {
			return Bytes(v), len(v), ""
		}
	case []uint16:
		if d == U16 {
			return Bytes(v), len(v), ""
		}
	case []complex64:
		if d == C64 {
			return Bytes(v), len(v), ""
		}
	case []complex128:
		if d == C128 {
			return Bytes(v), len(v), ""
		}
	case []int32:
		if d == I32 {
			return Bytes(v), len(v), ""
		}
	case []int64:
		if d == I64 {
			return Bytes(v), len(v), ""
		}
	case []int:
		if d == I64 {
			return Bytes(v), len(v), ""
		}
	}
	if !d.IsComplex() {
		switch v := src.(type) {
		case []float32:
			return encodeEach(d, v, func(x float32) Number { return Number{Class: Floating, Float: float64(x)} })
		case []float64:
			return encodeEach(d, v, func(x float64) Number { return Number{Class: Floating, Float: x} })
		case []int:
			return encodeEach(d, v, func(x int) Number { return Number{Class: Signed, Int: int64(x)} })
		}
	}
	v := reflect.ValueOf(src)
	if src == nil || v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return nil, 0, fmt.Sprintf("a tensor is copied from a slice of numbers or another tensor, not from %T", src)
	}
	n = v.Len()
	data = make([]byte, n*d.Size())
	for i := range n {
		why, known := d.Put(data, i, v.Index(i).Interface())
		switch {
		case !known:
			return nil, 0, fmt.Sprintf("a tensor of %v is copied from a slice of numbers, not from %T", d, src)
		case why != "":
			return nil, 0, fmt.Sprintf("element %d: %s", i, why)
		}
	}
	return data, n, ""
}

// encodeEach is EncodeSlice for a slice whose elements become numbers without reflection.
func encodeEach[T any](d Type, src []T, number func(T) Number) (data []byte, n int, why string) {
	data = make([]byte, len(src)*d.Size())
	for i, x := range src {
		bits, why := d.Encode(number(x))
		if why != "" {
			return nil, 0, fmt.Sprintf("element %d: %s", i, why)
		}
		d.PutBits(data, i, bits)
	}
	return data, len(src), ""
}

// Bytes returns the memory of a slice. Devices and supported hosts are little-endian.
func Bytes[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// BitsAt returns the bits of element i of data, of a type that is not complex.
func (d Type) BitsAt(data []byte, i int) uint64 {
	switch d.Size() {
	case 1:
		return uint64(data[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(data[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return binary.LittleEndian.Uint64(data[8*i:])
}

// PutBits stores the bits of element i of data.
func (d Type) PutBits(data []byte, i int, bits uint64) {
	switch d.Size() {
	case 1:
		data[i] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(data[2*i:], uint16(bits))
	case 4:
		binary.LittleEndian.PutUint32(data[4*i:], uint32(bits))
	default:
		binary.LittleEndian.PutUint64(data[8*i:], bits)
	}
}
