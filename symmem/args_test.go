package symmem

import (
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// TestArguments compares the sizes of the arguments here with what the C++ compiler says of every built-in
// kernel.
func TestArguments(t *testing.T) {
	sizes := map[string]uintptr{
		"barrier":             unsafe.Sizeof(barrierArgs{}),
		"put_signal":          unsafe.Sizeof(signalArgs{}),
		"wait_signal":         unsafe.Sizeof(signalArgs{}),
		"put_with_signal":     unsafe.Sizeof(putWithSignalArgs{}),
		"wait_for_signal":     unsafe.Sizeof(waitForSignalArgs{}),
		"fill":                unsafe.Sizeof(fillArgs{}),
		"arange":              unsafe.Sizeof(arangeArgs{}),
		"rand":                unsafe.Sizeof(randArgs{}),
		"one_shot_all_reduce": unsafe.Sizeof(packetArgs{}),
		"two_shot_all_reduce": unsafe.Sizeof(packetArgs{}),
		"two_shot_lines":      unsafe.Sizeof(lineArgs{}),
		"two_shot_chunks":     unsafe.Sizeof(chunkArgs{}),
		"pull_reduce":         unsafe.Sizeof(pullArgs{}),
		"multimem_reduce":     unsafe.Sizeof(multimemArgs{}),
		"multimem_all_gather": unsafe.Sizeof(multimemGatherArgs{}),
		"matmul":              unsafe.Sizeof(matMulArgs{}),
		"copy_rows":           unsafe.Sizeof(copyRowsArgs{}),
		"exchange":            unsafe.Sizeof(exchangeArgs{}),
		"all_to_all_vdev":     unsafe.Sizeof(vdevArgs{}),
		"pool_meet":           unsafe.Sizeof(poolMeetArgs{}),
		"permute":             unsafe.Sizeof(permuteArgs{}),
		"tile_reduce":         unsafe.Sizeof(tileArgs{}),
	}
	dev, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, file := range kernels.Files() {
		op := file.Operation()
		want, ok := sizes[op]
		if !ok {
			t.Errorf("the arguments of %s are not declared here", file.Name)
			continue
		}
		names := []string{op}
		if _, err := dev.Builtin(op, 0); err != nil {
			names = names[:0]
			for d := F16; d <= U64; d++ {
				names = append(names, op+"_"+d.String())
			}
		}
		for _, name := range names {
			k, err := dev.Builtin(name, 0)
			if err != nil {
				t.Error(err)
				continue
			}
			if p := k.Params(); len(p) != 1 || p[0].Size != int(want) {
				t.Errorf("%s takes %+v, the struct here has %d bytes", name, p, want)
			}
		}
	}
}

// TestHandleLayout lets the C++ compiler check the offsets of the structs that users' kernels see.
func TestHandleLayout(t *testing.T) {
	dev, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var h kernelHandle
	k, err := dev.Compile(device.Source{Name: "layout", Line: 1, Text: `extern "C" __global__ void layout(symm::Handle h, unsigned long long* out) {
		const char* base = (const char*)&h;
		const void* fields[] = {&h.watch, &h.timeout_ns, &h.rank, &h.world_size, &h.ordinal, &h.channels, &h.swaps, &h.bytes, &h.pad_bytes, h.buffers, h.pads, &h.signals};
		for (int i = 0; i < 12; i++) out[i] = (const char*)fields[i] - base;
		out[12] = sizeof h;
	}`})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	p, err := dev.Alloc(8 * 13)
	if err != nil {
		t.Fatal(err)
	}
	args := append(make([]byte, unsafe.Sizeof(h)), bytesOf(&p)...)
	if err := s.Launch(k.Kernels()[0], device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Args: args}); err != nil {
		t.Fatal(err)
	}
	got := make([]uint64, 13)
	if err := s.Read(raw(got), p); err != nil {
		t.Fatal(err)
	}
	c := unsafe.Offsetof(h.context)
	want := []uintptr{
		c + unsafe.Offsetof(h.context.watch), c + unsafe.Offsetof(h.context.timeout), c + unsafe.Offsetof(h.context.rank), c + unsafe.Offsetof(h.context.size),
		c + unsafe.Offsetof(h.context.ordinal), c + unsafe.Offsetof(h.context.channels), c + unsafe.Offsetof(h.context.swaps), unsafe.Offsetof(h.bytes), unsafe.Offsetof(h.padBytes),
		unsafe.Offsetof(h.buffers), unsafe.Offsetof(h.pads), unsafe.Offsetof(h.signals), unsafe.Sizeof(h),
	}
	for i := range want {
		if got[i] != uint64(want[i]) {
			t.Errorf("field %d is at %d in C++ and at %d here", i, got[i], want[i])
		}
	}
}
