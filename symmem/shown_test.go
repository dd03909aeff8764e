package symmem

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// readingDevice is the cpu device with streams that count the bytes that the host reads.
type readingDevice struct {
	device.Device
	read *atomic.Int64
}

type readingStream struct {
	device.Stream
	read *atomic.Int64
}

func (d readingDevice) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return readingStream{s, d.read}, err
}

func (s readingStream) Read(dst []byte, src device.Ptr) error {
	s.read.Add(int64(len(dst)))
	return s.Stream.Read(dst, src)
}

func (s readingStream) ReadTo(dst io.WriterAt, src device.Ptr, n int) error {
	s.read.Add(int64(n))
	return s.Stream.ReadTo(dst, src, n)
}

// TestShownReads checks that showing a tensor of 256 MiB, and calculating with it, reads few bytes.
func TestShownReads(t *testing.T) {
	var read atomic.Int64
	rt := newOn(t, func(d device.Device) device.Device { return readingDevice{d, &read} })
	x := rt.Local(F32, 8192, 8192)
	x.Slice(5, 6).View(8192).Slice(3, 5).CopyFrom([]float64{-4, math.NaN()})
	x.Slice(8191, 8192).Fill(2)
	y := rt.Local(F32, 8192, 8192).CopyFrom(x)
	for _, c := range []struct {
		name string
		most int64
		f    func() any
		want any
	}{
		{"String", 2 << 10, func() any { return strings.Count(x.String(), "\n") }, 9},
		{"HTML", 76 << 10, func() any { return strings.Count(x.HTML(), "<tr>") }, 14}, // of them 74 KiB for the heat map
		{"Stats", 64, func() any { return x.Stats() }, Stats{N: 8192 * 8192, NaN: 1, Min: -4, Max: 2, Mean: float64(2*8192-4) / (8192*8192 - 1)}},
		{"Extremes", 4 << 10, func() any {
			least, greatest := x.Extremes(512)
			return []any{len(least), len(greatest), least[0], slices.Min(least[1:]), slices.Max(greatest[:511]), greatest[511]}
		}, []any{512, 512, -4.0, 0.0, 0.0, 2.0}},
		{"Extremes of a matrix", 32 << 10, func() any {
			least, greatest := x.Extremes(64, 64)
			return []any{len(least), least[0], slices.Min(least[1:]), slices.Max(greatest[:63*64]), slices.Min(greatest[63*64:])}
		}, []any{64 * 64, -4.0, 0.0, 0.0, 2.0}},
		{"Equal", 64, func() any { return x.Equal(y) }, false},
		{"AllClose", 64, func() any { return x.View(8192*8192).Slice(0, 40000).AllClose(0) }, true},
		{"MaxDiff", 64, func() any { return x.Slice(6, 8192).MaxDiff(y.Slice(6, 8192)) }, 0.0},
	} {
		read.Store(0)
		if got := c.f(); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if n := read.Load(); n == 0 || n > c.most {
			t.Errorf("%s reads %d bytes, want at most %d", c.name, n, c.most)
		}
	}
}
