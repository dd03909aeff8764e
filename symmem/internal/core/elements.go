package symmem

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/kernels/elements"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// generate launches a built-in kernel that writes the whole tensor. args is made when the tensor is
// known to be alive.
func (t *Tensor) generate(op, kernel string, args func() []byte) {
	c := t.rt.ownCall(op)
	defer c.Enter().Leave()
	t.usable(op)
	if t.n == 0 {
		return
	}
	c.PickStream()
	c.Admit(t)
	c.Launch(kernel, 0, launch.Elements(t.n, t.rt.plan, t.rt.info.Processors), args())
}

// Fill sets every element to x, a number of any Go type. For Bool x may be a bool, too. An integer
// must be exactly representable in the element type. A float must not overflow; it is rounded to the
// nearest value of a float type, and must be whole for an integer type. A complex number needs a
// complex type. It returns t.
func (t *Tensor) Fill(x any) *Tensor {
	const op = "Fill"
	t.usable(op)
	var value [16]byte
	why, known := t.dtype.element().Put(value[:], 0, x)
	switch {
	case !known:
		panic(t.rt.misuse(op, "x", "", "a tensor is filled with a number, not with a %T", x))
	case why != "":
		panic(t.rt.misuse(op, "x", "", "%s", why))
	}
	t.generate(op, "fill", func() []byte {
		return launch.Bytes(&elements.FillArgs{Out: t.pointer(), N: uint64(t.n), Bits: binary.LittleEndian.Uint64(value[:]),
			High: binary.LittleEndian.Uint64(value[8:]), Size: uint64(t.dtype.Size())})
	})
	return t
}

// Arange sets element i to i. It is refused if the last index is out of the type's range; in a float
// type, large values are rounded. It returns t.
func (t *Tensor) Arange() *Tensor {
	const op = "Arange"
	t.usable(op)
	t.mustCompute(op)
	if t.n > 0 {
		if _, why := t.dtype.element().Encode(element.Number{Class: element.Floating, Float: float64(t.n - 1)}); why != "" {
			panic(t.rt.misuse(op, "tensor", "", "%s", why))
		}
	}
	if !t.dtype.element().Reduces() {
		return t.rt.calculate(op, t.dtype, []Option{Into{t}})
	}
	t.generate(op, "arange_"+t.dtype.String(),
		func() []byte { return launch.Bytes(&elements.ArangeArgs{Out: t.pointer(), N: uint64(t.n)}) })
	return t
}

// Rand sets the elements to values that depend on the seed, any int, and their index alone: floats
// in [0, 1), rounded (a 16-bit type can round up to 1), integers from 0 to 127. It returns t.
func (t *Tensor) Rand(seed int) *Tensor {
	const op = "Rand"
	t.usable(op)
	t.mustCompute(op)
	if !t.dtype.element().Reduces() {
		return t.rt.calculate(op, t.dtype, []Option{Into{t}}, seed)
	}
	t.generate(op, "rand_"+t.dtype.String(), func() []byte {
		return launch.Bytes(&elements.RandArgs{Out: t.pointer(), N: uint64(t.n), Seed: uint64(seed)})
	})
	return t
}

func (t *Tensor) mustCompute(op string) {
	switch d := t.dtype.element(); {
	case d.Computes():
	case d.IsComplex():
		panic(t.rt.misuse(op, "tensor", fmt.Sprintf("t.As(symm.%s) is a view of the real and imaginary parts", strings.ToUpper(d.Part().String())),
			"%v has complex numbers", t.dtype))
	default:
		panic(t.rt.misuse(op, "tensor", "convert it through the host, as by CopyFrom(x.Float32s())",
			"%v is a storage type: it can be filled, copied and read", t.dtype))
	}
}

// CopyFrom sets the elements from src, which has the same number of elements. src is a slice of any
// numeric type or of bool, whose values are converted as by Fill, or a tensor of the same type. A
// slice may be changed after CopyFrom has returned. It returns t.
func (t *Tensor) CopyFrom(src any) *Tensor {
	const op = "CopyFrom"
	t.usable(op)
	if from, ok := src.(*Tensor); ok {
		t.copyTensor(op, from)
		return t
	}
	data, n, why := t.dtype.element().EncodeSlice(src)
	if why != "" {
		panic(t.rt.misuse(op, "src", "", "%s", why))
	}
	if n != t.n {
		panic(t.rt.misuse(op, "src", "give as many", "%s for a tensor of %s", count.Of(n, "value"), count.Of(t.n, "element")))
	}
	t.rt.hostCall(op)
	t.write(op, data)
	return t
}

func (t *Tensor) write(op string, data []byte) {
	if len(data) == 0 {
		return
	}
	c := t.rt.ownCall(op)
	defer c.Enter().Leave()
	t.usable(op)
	c.PickStream()
	c.Admit(t)
	c.issued(c.stream.write(t.pointer(), data))
}

func (t *Tensor) copyTensor(op string, from *Tensor) {
	rt := t.rt
	rt.usable(op, from)
	if from.dtype != t.dtype {
		panic(rt.misuse(op, "src", fmt.Sprintf("convert through the host: CopyFrom(src.%s())", t.dtype.reader()),
			"a %v tensor cannot be copied into a %v one", from.dtype, t.dtype))
	}
	if from.n != t.n {
		panic(rt.misuse(op, "src", "give as many", "%s for a tensor of %d", count.Of(from.n, "element"), t.n))
	}
	c := rt.ownCall(op)
	defer c.Enter().Leave()
	t.usable(op)
	c.PickStream()
	c.Admit(t, from)
	c.issued(c.stream.copy(t.pointer(), from.pointer(), t.Bytes()))
}

// reader names the method that reads the type without loss.
func (d DType) reader() string {
	switch {
	case d.element().IsComplex():
		return "Complex128s"
	case d == Bool:
		return "Bools"
	case !d.element().IsFloat():
		return "Ints"
	case d == F64:
		return "Float64s"
	}
	return "Float32s"
}

// read waits for the current stream and returns the bytes of the first n elements.
func (t *Tensor) read(op string, n int) []byte {
	data := make([]byte, n*t.dtype.Size())
	t.rt.raise(op, t.bulk(op, func(s device.Stream) error { return s.Read(data, t.pointer()) }))
	return data
}

// give waits for the current stream and gives all bytes to dst, from several goroutines at once.
func (t *Tensor) give(op string, dst io.WriterAt) error {
	return t.bulk(op, func(s device.Stream) error { return s.ReadTo(dst, t.pointer(), t.Bytes()) })
}

// fill waits for the current stream and sets the elements from their bytes.
func (t *Tensor) fill(op string, src io.ReaderAt) error {
	return t.bulk(op, func(s device.Stream) error { return s.WriteFrom(t.pointer(), src, t.Bytes()) })
}

// bulk waits for the current stream, and for the network, and calls f, which copies between the
// tensor and the host.
func (t *Tensor) bulk(op string, f func(device.Stream) error) error {
	t.rt.hostCall(op)
	t.rt.countIn()
	defer t.rt.countOut()
	s := t.lockForRead(op)
	defer s.mu.Unlock()
	if t.rt.posting.Load() { // a get of a kernel may write it
		if err := errors.Join(s.d.Synchronize(), t.rt.flush()); err != nil {
			return err
		}
	}
	if t.n == 0 {
		return s.d.Synchronize()
	}
	return f(s.d)
}

// lockForRead admits a read and returns its stream with the stream's lock held, which is taken
// while the world is still locked: nothing else is issued in between.
func (t *Tensor) lockForRead(op string) *Stream {
	c := t.rt.ownCall(op)
	defer c.Enter().Leave()
	t.usable(op)
	c.PickStream()
	c.Admit(t)
	c.stream.mu.Lock()
	return c.stream
}

// Float64s returns the elements, exactly but for integers beyond 2^53. Complex elements are refused:
// Complex128s reads them. It waits for the current stream.
func (t *Tensor) Float64s() []float64 {
	t.usable("Float64s")
	return readFloats[float64](t, "Float64s")
}

// Float32s returns the elements rounded to float32, which is exact for all types of at most 24 bits
// of precision. It waits for the current stream.
func (t *Tensor) Float32s() []float32 {
	t.usable("Float32s")
	return readFloats[float32](t, "Float32s")
}

// readFloats converts the elements as they come.
func readFloats[T float32 | float64](t *Tensor, op string) []T {
	t.mustBeReal(op)
	out := make([]T, t.n)
	t.rt.raise(op, t.give(op, &converted[T]{out, t.dtype.element()}))
	return out
}

// converted is a slice of floats that is filled from the bytes of elements.
type converted[T float32 | float64] struct {
	out []T
	of  element.Type
}

func (c *converted[T]) WriteAt(p []byte, off int64) (int, error) {
	at := int(off) / c.of.Size()
	element.Floats(c.of, c.out[at:at+len(p)/c.of.Size()], p)
	return len(p), nil
}

// Ints returns the elements, which must be whole numbers. It waits for the current stream.
func (t *Tensor) Ints() []int {
	const op = "Ints"
	t.usable(op)
	t.mustBeReal(op)
	if t.dtype == I64 {
		out := make([]int, t.n)
		t.rt.raise(op, t.give(op, device.Bytes(element.Bytes(out))))
		return out
	}
	data := t.read(op, t.n)
	out := make([]int, t.n)
	for i := range out {
		bits := t.dtype.element().BitsAt(data, i)
		if !t.dtype.element().IsFloat() {
			out[i] = int(t.dtype.element().Integer(bits))
			if t.dtype == U64 && out[i] < 0 {
				panic(t.rt.misuse(op, "tensor", "read it by Float64s", "element %d is %d, too large for an int", i, bits))
			}
			continue
		}
		v := t.dtype.element().Float(bits)
		if v != math.Trunc(v) || math.Abs(v) >= 0x1p63 {
			panic(t.rt.misuse(op, "tensor", "read it by Float64s", "element %d is %v, not an int", i, v))
		}
		out[i] = int(v)
	}
	return out
}
