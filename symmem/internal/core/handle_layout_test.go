package symmem

import (
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// TestHandleLayout lets the C++ compiler check the offsets of the structs that users' kernels see.
func TestHandleLayout(t *testing.T) {
	dev, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var h abi.Handle
	k, err := dev.Compile(device.Source{Name: "layout", Line: 1, Text: `extern "C" __global__ void layout(symm::Handle h, unsigned long long* out) {
		const char* base = (const char*)&h;
		const void* fields[] = {&h.watch, &h.timeout_ns, &h.rank, &h.world_size, &h.ordinal, &h.channels, &h.swaps, &h.unannounced, &h.bytes, &h.pad_bytes, h.buffers, h.pads, &h.signals, &h.net, &h.start, &h.window};
		for (int i = 0; i < 16; i++) out[i] = (const char*)fields[i] - base;
		out[16] = sizeof h;
	}`})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	p, err := dev.Alloc(8 * 17)
	if err != nil {
		t.Fatal(err)
	}
	args := append(make([]byte, unsafe.Sizeof(h)), launch.Bytes(&p)...)
	if err := s.Launch(k.Kernels()[0], device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Args: args}); err != nil {
		t.Fatal(err)
	}
	got := make([]uint64, 17)
	if err := s.Read(unsafe.Slice((*byte)(unsafe.Pointer(&got[0])), 8*len(got)), p); err != nil {
		t.Fatal(err)
	}
	c := unsafe.Offsetof(h.Context)
	want := []uintptr{
		c + unsafe.Offsetof(h.Context.Watch), c + unsafe.Offsetof(h.Context.TimeoutNs), c + unsafe.Offsetof(h.Context.Rank),
		c + unsafe.Offsetof(h.Context.WorldSize),
		c + unsafe.Offsetof(h.Context.Ordinal), c + unsafe.Offsetof(h.Context.Channels), c + unsafe.Offsetof(h.Context.Swaps),
		c + unsafe.Offsetof(h.Context.Unannounced), unsafe.Offsetof(h.Bytes), unsafe.Offsetof(h.PadBytes),
		unsafe.Offsetof(h.Buffers), unsafe.Offsetof(h.Pads), unsafe.Offsetof(h.Signals), unsafe.Offsetof(h.Net),
		unsafe.Offsetof(h.Start), unsafe.Offsetof(h.Window), unsafe.Sizeof(h),
	}
	for i := range want {
		if got[i] != uint64(want[i]) {
			t.Errorf("field %d is at %d in C++ and at %d here", i, got[i], want[i])
		}
	}
}
