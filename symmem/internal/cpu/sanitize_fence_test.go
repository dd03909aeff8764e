//go:build linux && (amd64 || arm64)

package cpu

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// An order that is too weak says on which side of the word a fence is missing.
func TestSanitizeFences(t *testing.T) {
	b := watch(t)
	b.sanitize(0, 0)
	for _, c := range []struct{ name, store, load, want string }{
		{"neither", "", "", "without a fence on both sides"},
		{"the store", "__threadfence();", "", "its load has none behind it"},
		{"the load", "", "__threadfence();", "no fence before its store covers"},
		{"both", "__threadfence();", "__threadfence();", ""},
	} {
		k := b.compile(`__global__ void pass(unsigned* x) {
  if (blockIdx.x == 0) { x[0] = 1; ` + c.store + ` atomicExch(x + 2, 1u); }
  else { while (atomicAdd(x + 2, 0u) == 0); ` + c.load + ` x[4] = x[0]; }
}`)
		p := upload(b, make([]uint32, 8))
		b.launch(k["pass"], 2, 1, p)
		b.sync()
		found := b.sanitizer().Findings()
		if c.want == "" {
			if len(found) > 0 {
				t.Errorf("%s: %v", c.name, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Kind != device.OrderTooWeak || !strings.Contains(found[0].Order, c.want) {
			t.Errorf("%s: %+v, want %q", c.name, found, c.want)
		}
	}
	early := b.compile(`__global__ void last(unsigned* done, unsigned* in, unsigned* out) {
  __shared__ bool is_last;
  in[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (is_last) for (int i = threadIdx.x; i < 512; i += blockDim.x) out[i] = in[i];
}`)
	b.launch(early["last"], 8, 64, upload(b, make([]uint32, 1)), upload(b, make([]uint32, 512)), b.alloc(4*512))
	b.sync()
	for _, f := range b.sanitizer().Findings() {
		if f.Kind == device.OrderTooWeak && strings.Contains(f.Order, "before a barrier of the block") {
			return
		}
		t.Logf("%v: %q", f, f.Order)
	}
	t.Error("no finding says that the fence is too early")
}

// A race between two launches of one kernel says which launches of which streams they are.
func TestSanitizeTwoLaunches(t *testing.T) {
	b := watch(t)
	b.sanitize(0, 0)
	k := b.compile("__global__ void inc(float* x) { x[threadIdx.x] += 1; }")
	p := upload(b, make([]float32, 64))
	b.sync()
	other := &bench{t, b.Device, mustStream(t, b.Device)}
	b.launch(k["inc"], 1, 64, p)
	other.launch(k["inc"], 1, 64, p)
	b.sync()
	other.sync()
	for _, f := range b.sanitizer().Findings() {
		if len(f.Accesses) == 2 && f.Accesses[0].Kernel == "inc" && f.Accesses[1].Kernel == "inc" &&
			strings.Contains(f.Order, "two launches of kernel inc, number ") && strings.Contains(f.Order, "on stream 1") && strings.Contains(f.Order, "on stream 2") {
			return
		}
		t.Logf("%+v", f)
	}
	t.Error("no finding names the launches")
}
