package element

import (
	"math"
	"testing"
)

// TestDecode compares every value of the 16-bit floats, and important values of the 8-bit ones,
// with the definitions of the formats.
func TestDecode(t *testing.T) {
	for i := range 1 << 16 {
		bits := uint16(i)
		if got, want := formats[BF16].decode(bits), float64(math.Float32frombits(uint32(bits)<<16)); !same(got, want) {
			t.Fatalf("bf16 %#04x is %v, want %v", bits, got, want)
		}
		if got, want := formats[F16].decode(bits), f16Reference(bits); !same(got, want) {
			t.Fatalf("f16 %#04x is %v, want %v", bits, got, want)
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	for bits, want := range map[uint16]float64{0: 0, 1: 0x1p-9, 7: 7 * 0x1p-9, 8: 0x1p-6, 0x38: 1, 0x39: 1.125, 0x7e: 448,
		0x7f: nan, 0xff: nan, 0xfe: -448, 0xb8: -1} {
		if got := formats[F8E4M3].decode(bits); !same(got, want) {
			t.Errorf("f8e4m3 %#02x is %v, want %v", bits, got, want)
		}
	}
	for bits, want := range map[uint16]float64{0: 0, 1: 0x1p-16, 3: 3 * 0x1p-16, 4: 0x1p-14, 0x3c: 1, 0x3d: 1.25, 0x7b: 57344,
		0x7c: inf, 0x7d: nan, 0x7f: nan, 0xfc: -inf, 0xbc: -1} {
		if got := formats[F8E5M2].decode(bits); !same(got, want) {
			t.Errorf("f8e5m2 %#02x is %v, want %v", bits, got, want)
		}
	}
}

// f16Reference decodes by exponent and fraction, like the hardware.
func f16Reference(bits uint16) float64 {
	sign, exp, frac := uint32(bits>>15)<<31, uint32(bits>>10&31), uint32(bits&1023)
	switch {
	case exp == 31:
		return float64(math.Float32frombits(sign | 0xff<<23 | frac<<13))
	case exp > 0:
		return float64(math.Float32frombits(sign | (exp+112)<<23 | frac<<13))
	}
	v := float64(frac) / (1 << 24)
	if sign != 0 {
		return -v
	}
	return v
}

func same(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b
}

// TestEncode checks, for every two neighbouring values of every small format, that each encodes to
// itself, that the middle goes to the even one, and that the smallest step off the middle goes to
// the nearer one.
func TestEncode(t *testing.T) {
	for _, d := range []Type{F16, BF16, F8E4M3, F8E5M2} {
		f := formats[d]
		width := f.exponent + f.mantissa
		for bits := uint16(0); bits < 1<<width; bits++ {
			v := f.decode(bits)
			if v != v {
				if got := f.decode(f.encode(v)); got == got {
					t.Fatalf("%v: NaN encodes to %v", d, got)
				}
				continue
			}
			for _, sign := range []float64{1, -1} {
				if got := f.decode(f.encode(math.Copysign(v, sign))); !same(got, math.Copysign(v, sign)) {
					t.Fatalf("%v: %v encodes to %v", d, math.Copysign(v, sign), got)
				}
			}
			next := f.decode(bits + 1)
			if bits+1 == 1<<width || next != next || math.IsInf(next, 0) || math.IsInf(v, 0) {
				continue
			}
			middle, even := (v+next)/2, bits+bits&1
			if got := f.encode(middle); got != even {
				t.Fatalf("%v: %v between %v and %v encodes to %#x, want the even %#x", d, middle, v, next, got, even)
			}
			if got := f.encode(math.Nextafter(middle, 0)); got != bits {
				t.Fatalf("%v: just below %v encodes to %#x, want %#x", d, middle, got, bits)
			}
			if got := f.encode(math.Nextafter(middle, math.Inf(1))); got != bits+1 {
				t.Fatalf("%v: just above %v encodes to %#x, want %#x", d, middle, got, bits+1)
			}
		}
	}
	// Beyond the largest value: by the tie rule, half a step more is already infinity.
	for d, limit := range map[Type]float64{F16: 65520, BF16: 0x1.ffp127, F8E5M2: 61440} {
		if got := formats[d].decode(formats[d].encode(math.Nextafter(limit, 0))); got != types[d].max {
			t.Errorf("%v: just below %v encodes to %v, want %v", d, limit, got, types[d].max)
		}
		if got := formats[d].decode(formats[d].encode(limit)); !math.IsInf(got, 1) {
			t.Errorf("%v: %v encodes to %v, want infinity", d, limit, got)
		}
	}
	for _, v := range []float64{465, 1e6, math.Inf(1)} {
		if got := formats[F8E4M3].encode(v); got != 0x7f {
			t.Errorf("f8e4m3: %v encodes to %#x, want NaN", v, got)
		}
	}
}

// TestFloats compares conversions of many elements with those of one, for every value of the small
// types and some of the others.
func TestFloats(t *testing.T) {
	for d := F16; d <= F8E5M2; d++ {
		n := min(1<<(8*d.Size()), 1<<16)
		data := make([]byte, n*d.Size())
		for i := range n {
			d.PutBits(data, i, uint64(i)*0x9e3779b97f4a7c15>>(64-8*d.Size()))
			if d.Size() <= 2 {
				d.PutBits(data, i, uint64(i))
			}
		}
		single, double := make([]float32, n), make([]float64, n)
		Floats(d, single, data)
		Floats(d, double, data)
		for i := range n {
			want := d.Float(d.BitsAt(data, i))
			if !same(double[i], want) {
				t.Fatalf("%v: bits %#x are %v, want %v", d, d.BitsAt(data, i), double[i], want)
			}
			if d.Size() < 8 && !same(float64(single[i]), float64(float32(want))) {
				t.Fatalf("%v: bits %#x are %v, want %v", d, d.BitsAt(data, i), single[i], float32(want))
			}
		}
	}
}

func TestEncodeNumber(t *testing.T) {
	const no = math.MaxUint64 - 12345 // means that the value is refused
	tests := []struct {
		d    Type
		x    any
		want uint64
	}{
		{I8, 127, 127}, {I8, 128, no}, {I8, -128, 1<<64 - 128}, {I8, -129, no}, {I8, uint8(200), no}, {I8, 3.0, 3}, {I8, 3.5, no},
		{U8, 255, 255}, {U8, 256, no}, {U8, -1, no}, {U8, float32(255), 255}, {U8, math.NaN(), no}, {U8, math.Inf(1), no},
		{I32, math.MinInt32, 1<<64 - 1<<31}, {I32, math.MaxInt32 + 1, no}, {U32, uint32(math.MaxUint32), math.MaxUint32}, {U32, 1 << 32, no},
		{I64, math.MinInt64, 1 << 63}, {I64, uint64(1 << 63), no}, {I64, 0x1p63, no}, {I64, -0x1p63, 1 << 63},
		{U64, uint64(math.MaxUint64), math.MaxUint64}, {U64, 0x1p63, 1 << 63}, {U64, 0x1p64, no}, {U64, -1, no}, {U64, int64(5), 5},
		{F32, 1, 0x3f800000}, {F32, 1<<24 + 1, no}, {F32, 1 << 24, 0x4b800000}, {F32, 0.1, 0x3dcccccd}, {F32, 1e39, no}, {F32, math.Inf(-1), 0xff800000},
		{F64, 1<<53 + 1, no}, {F64, uint64(1<<63 + 1), no}, {F64, -2, math.Float64bits(-2)}, {F64, math.MaxInt64, no},
		{BF16, 256, 0x4380}, {BF16, 257, no}, {BF16, 257.0, 0x4380}, {BF16, 0.1, 0x3dcd}, {BF16, math.MaxFloat64, no},
		{F16, 65504, 0x7bff}, {F16, 65504.0, 0x7bff}, {F16, 65520.0, no}, {F16, 65519.0, 0x7bff}, {F16, 65505, no},
		{F8E4M3, 448, 0x7e}, {F8E4M3, 464.0, 0x7e}, {F8E4M3, 465.0, no}, {F8E4M3, math.Inf(1), no}, {F8E4M3, 17, no}, {F8E4M3, 17.0, 0x58},
		{F8E5M2, 57344, 0x7b}, {F8E5M2, 61440.0, no}, {F8E5M2, math.Inf(1), 0x7c},
	}
	for _, tt := range tests {
		x, ok := NumberOf(tt.x)
		if !ok {
			t.Fatalf("%v is not a number", tt.x)
		}
		bits, why := tt.d.Encode(x)
		if (why != "") != (tt.want == no) || why == "" && bits != tt.want {
			t.Errorf("%v of %T %v: %#x %q, want %#x", tt.d, tt.x, tt.x, bits, why, tt.want)
		}
	}
	type named int16
	if x, ok := NumberOf(named(-3)); !ok || x.Int != -3 {
		t.Errorf("a named integer is read as %v", x)
	}
	for _, x := range []any{nil, "3", true, []int{3}, 1i} {
		if _, ok := NumberOf(x); ok {
			t.Errorf("%v passes for a number", x)
		}
	}
}

// FuzzEncode checks that an accepted value is decoded to the nearest value of the type.
func FuzzEncode(f *testing.F) {
	f.Add(uint8(BF16), 1.0/3)
	f.Add(uint8(U64), 0x1p63)
	f.Fuzz(func(t *testing.T, dtype uint8, x float64) {
		d := Type(dtype%uint8(F8E5M2) + 1)
		bits, why := d.Encode(Number{Class: Floating, Float: x})
		if why != "" || x != x {
			return
		}
		got := d.Float(bits)
		if got == x {
			return
		}
		if !d.IsFloat() {
			t.Fatalf("%v: %v is read back as %v", d, x, got)
		}
		// No neighbour may be nearer. Patterns of one sign are ordered like their values.
		for _, n := range []uint64{bits - 1, bits + 1} {
			if v := d.Float(n); math.Abs(v-x) < math.Abs(got-x) {
				t.Fatalf("%v: %v becomes %v though %v is nearer", d, x, got, v)
			}
		}
	})
}
