package element

import (
	"math"
	"sync"
	"unsafe"
)

// Floats decodes elements, which are not complex, to as many floats, like Type.Float.
func Floats[T float32 | float64](d Type, dst []T, data []byte) {
	switch d {
	case F64:
		if same, ok := any(dst).([]float64); ok {
			copy(Bytes(same), data)
			return
		}
		convert[float64](dst, data)
	case F32:
		if same, ok := any(dst).([]float32); ok {
			copy(Bytes(same), data)
			return
		}
		convert[float32](dst, data)
	case BF16:
		for i, b := range elements[uint16](data) {
			dst[i] = T(math.Float32frombits(uint32(b) << 16))
		}
	case F16:
		values := f16Values()
		for i, b := range elements[uint16](data) {
			dst[i] = T(values[b])
		}
	case F8E4M3, F8E5M2:
		values := f8Values()[d-F8E4M3]
		for i, b := range data {
			dst[i] = T(values[b])
		}
	case I8:
		convert[int8](dst, data)
	case U8, Bool:
		convert[uint8](dst, data)
	case I16:
		convert[int16](dst, data)
	case U16:
		convert[uint16](dst, data)
	case I32:
		convert[int32](dst, data)
	case U32:
		convert[uint32](dst, data)
	case I64:
		convert[int64](dst, data)
	case U64:
		convert[uint64](dst, data)
	}
}

// convert converts elements that are numbers of Go.
func convert[E int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64, T float32 | float64](dst []T, data []byte) {
	src := elements[E](data)
	for i := range dst {
		dst[i] = T(src[i])
	}
}

// elements returns data as elements. The data must be aligned for them, and its length a multiple of
// their size.
func elements[E any](data []byte) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(*new(E))))
}

// The values of all bit patterns of the small floats, which float32 has exactly.
var (
	f16Values = sync.OnceValue(func() []float32 { return tabulate(F16) })
	f8Values  = sync.OnceValue(func() [2][]float32 { return [2][]float32{tabulate(F8E4M3), tabulate(F8E5M2)} })
)

func tabulate(d Type) []float32 {
	values := make([]float32, 1<<(8*types[d].size))
	for bits := range values {
		values[bits] = float32(d.Float(uint64(bits)))
	}
	return values
}
