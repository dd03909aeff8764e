package element

import (
	"math"
	"testing"
)

// TestConvert checks that what a type cannot have is rounded, wraps around or stops at its ends.
func TestConvert(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		d    Type
		x    any
		want uint64
	}{
		{I8, 127, 127}, {I8, 128, 1<<64 - 128}, {I8, -129, 127}, {I8, 300.5, 127}, {I8, -300.5, 1<<64 - 128}, {I8, -1.9, 1<<64 - 1},
		{U8, 256, 0}, {U8, -1, 255}, {U8, 300.0, 255}, {U8, -0.5, 0}, {U8, -7.0, 0}, {U8, nan, 0}, {U8, 1.9, 1},
		{I32, 1<<31 + 5, 1<<64 - 1<<31 + 5}, {I32, inf, math.MaxInt32}, {I32, -inf, 1<<64 - 1<<31}, {U32, -1, math.MaxUint32},
		{I64, 0x1p63, math.MaxInt64}, {I64, -0x1p63, 1 << 63}, {I64, nan, 0}, {I64, uint64(math.MaxUint64), math.MaxUint64},
		{U64, -1, math.MaxUint64}, {U64, 0x1p64, math.MaxUint64}, {U64, 0x1p63, 1 << 63},
		{Bool, 0.25, 1}, {Bool, nan, 1}, {Bool, 0, 0}, {Bool, 2, 1},
		{F32, 1<<24 + 1, 0x4b800000}, {F32, 1e39, 0x7f800000}, {F32, 1<<60 + 1<<36 + 1, 0x5d800001}, {F32, uint64(math.MaxUint64), 0x5f800000},
		{F64, 1<<53 + 1, math.Float64bits(1 << 53)}, {BF16, 257, 0x4380}, {F16, 65520.0, 0x7c00}, {F16, -inf, 0xfc00},
		{F8E4M3, 465, 0x7f}, {F8E5M2, 61440, 0x7c},
	} {
		x, _ := NumberOf(c.x)
		if got := c.d.Convert(x); got != c.want {
			t.Errorf("%v of %T %v: %#x, want %#x", c.d, c.x, c.x, got, c.want)
		}
	}
}
