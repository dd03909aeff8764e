package proxy

import (
	"bytes"
	"math/big"
	"slices"
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

const (
	testSecret  = 0x1234567890abcdef
	testEpoch   = 3
	testSize    = 4
	testSignals = 8
)

// The second window ends at the end of the address space.
var testWindows = []Window{{ID: 2, Base: 0x10000, Bytes: 1000}, {ID: 5, Base: 0xfffffffffffff000, Bytes: 0xfff}}

func raw(h Header) []byte {
	return slices.Clone(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)))
}

func check(header []byte, n uint64) (string, Header) {
	why, h := Check(testSecret, testEpoch, testSize, testSignals, testWindows, header, n)
	return Reasons[why], h
}

// good is a put of 3 rows of 8 bytes with a signal.
func good() Header {
	return Header{Secret: testSecret, Protocol: 0x34544e53, Epoch: testEpoch, Kind: Put, Source: 1, Number: 1, Bytes: 24,
		Offset: 100, Width: 8, Pitch: 10, Window: 2,
		Signal: abi.NetAddWord, SignalWindow: 2, SignalAt: 992, Value: 1}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(h *Header)
	}{
		{"", func(h *Header) {}},
		{"", func(h *Header) { h.Offset = 1000 - 28 }},
		{"bounds", func(h *Header) { h.Offset = 1000 - 27 }},
		{"bounds", func(h *Header) { h.Pitch = 1 << 63 }},
		{"bounds", func(h *Header) { h.Offset = 1<<64 - 28 }},
		{"malformed", func(h *Header) { h.Pitch = 7 }},
		{"malformed", func(h *Header) { h.Width = 7 }},
		{"signal", func(h *Header) { h.SignalAt = 993 }},
		{"signal", func(h *Header) { h.SignalAt = 1000 }},
		{"signal", func(h *Header) { h.SignalAt = 1<<64 - 8 }},
		{"", func(h *Header) { h.Signal, h.SignalAt = abi.NetAddIndexed, testSignals-1 }},
		{"signal", func(h *Header) { h.Signal, h.SignalAt = abi.NetAddIndexed, testSignals }},
		{"window", func(h *Header) { h.Window = 3 }},
		{"window", func(h *Header) { h.SignalWindow = 6 }},
		{"source", func(h *Header) { h.Source = testSize }},
		{"epoch", func(h *Header) { h.Epoch = testEpoch - 1 }},
		{"secret", func(h *Header) { h.Secret = 0 }},
		{"malformed", func(h *Header) { h.Number = 0 }},
		{"malformed", func(h *Header) { h.Kind = 0 }},
		{"malformed", func(h *Header) { h.Kind = Get }}, // of data that it must not have
	} {
		h := good()
		c.change(&h)
		if got, _ := check(raw(h), 24); got != c.want {
			t.Errorf("%+v: %q, want %q", h, got, c.want)
		}
	}
	if got, _ := check(raw(good())[:103], 24); got != "malformed" {
		t.Errorf("a header that is too short: %q", got)
	}
	if got, _ := check(raw(good()), 23); got != "malformed" {
		t.Errorf("data that is too short: %q", got)
	}
}

// FuzzCheck checks that an accepted message lies inside a window.
func FuzzCheck(f *testing.F) {
	get := good()
	get.Kind, get.Signal = Get, abi.NetNone
	add := get
	add.Signal, add.Bytes, add.Width = abi.ShmemAdd, 8, 0
	f.Add(raw(add), uint64(0))
	fence := good()
	fence.Kind = Fence
	f.Add(raw(good()), uint64(24))
	f.Add(raw(get), uint64(0))
	f.Add(raw(fence), uint64(0))
	f.Add([]byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, header []byte, n uint64) {
		if len(header) > 16 {
			copy(header, raw(good())[:16]) // secret, protocol and epoch, which cannot be guessed
		}
		why, h := check(header, n)
		if why != "" {
			return
		}
		if !bytes.Equal(raw(h), header) || h.Source >= testSize || h.Bytes > 4<<20 && h.Kind <= Answer {
			t.Fatalf("%+v passes", h)
		}
		if h.Kind != Put && h.Kind != Get {
			return
		}
		inside := func(id uint32, offset, end *big.Int) {
			i := slices.IndexFunc(testWindows, func(w Window) bool { return w.ID == id })
			if i < 0 || offset.Sign() < 0 || end.Cmp(new(big.Int).SetUint64(testWindows[i].Bytes)) > 0 {
				t.Fatalf("%+v passes", h)
			}
		}
		num := func(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
		if h.Bytes > 0 {
			extent := num(h.Bytes)
			if h.Width > 0 {
				extent.Mul(num(h.Bytes/h.Width-1), num(h.Pitch)).Add(extent, num(h.Width))
			}
			inside(h.Window, num(h.Offset), extent.Add(extent, num(h.Offset)))
		}
		if h.Kind == Get {
			if h.Signal != 0 && (h.Signal > abi.ShmemCompareSwap || h.Bytes != 4 && h.Bytes != 8 || h.Width != 0) {
				t.Fatalf("%+v passes", h)
			}
			return
		}
		switch h.Signal {
		case abi.NetAddIndexed:
			if h.SignalAt >= testSignals {
				t.Fatalf("%+v passes", h)
			}
		case abi.NetSetWord, abi.NetAddWord:
			inside(h.SignalWindow, num(h.SignalAt), new(big.Int).Add(num(h.SignalAt), num(8)))
			if h.SignalAt%8 != 0 {
				t.Fatalf("%+v passes", h)
			}
		}
	})
}

// TestCheckAtomic checks what is refused of atomic operations.
func TestCheckAtomic(t *testing.T) {
	atomic := func(change func(h *Header)) Header {
		h := good()
		h.Kind, h.Signal, h.Bytes, h.Width, h.Offset = Get, abi.ShmemAdd, 8, 0, 96
		change(&h)
		return h
	}
	for _, c := range []struct {
		want   string
		change func(h *Header)
	}{
		{"", func(*Header) {}},
		{"", func(h *Header) { h.Bytes, h.Offset, h.Signal = 4, 100, abi.ShmemCompareSwap }},
		{"malformed", func(h *Header) { h.Signal = abi.ShmemCompareSwap + 1 }},
		{"malformed", func(h *Header) { h.Bytes = 2 }},
		{"malformed", func(h *Header) { h.Width, h.Pitch = 8, 8 }},
		{"signal", func(h *Header) { h.Offset = 100 }},
		{"bounds", func(h *Header) { h.Offset = 1 << 40 }},
	} {
		if got, _ := check(raw(atomic(c.change)), 0); got != c.want {
			t.Errorf("%+v: %q, want %q", atomic(c.change), got, c.want)
		}
	}
}
