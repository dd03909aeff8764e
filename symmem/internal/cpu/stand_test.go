//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A kernel stands still if all its threads are in waits that only memory ends.
var stands = []struct {
	name, body      string
	blocks, threads int
	stands          bool
}{
	{"one thread", `await(0);`, 1, 1, true},
	{"all threads", `await(threadIdx.x);`, 1, 1024, true},
	{"all threads wait for one word", `await(0);`, 1, 64, true},
	{"at a barrier for one that waits", `if (threadIdx.x == 70) await(0); __syncthreads();`, 1, 256, true},
	{"at a barrier of some warps", `if (threadIdx.x == 3) await(0); if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;"); else await(1);`,
		1, 96, true},
	{"lanes for one that waits", `if (threadIdx.x == 3) await(0); __syncwarp();`, 1, 32, true},
	{"others have ended", `if (threadIdx.x % 3 == 1) await(0);`, 1, 256, true},
	{"other blocks have ended", `if (blockIdx.x == 2) await(0);`, 5, 32, true},
	{"all blocks", `await(blockIdx.x);`, 40, 32, true},
	{"many blocks", `if (threadIdx.x == 0) await(0); __syncthreads();`, 200, 64, true},
	{"at a barrier of the grid", `if (blockIdx.x == 1 && threadIdx.x == 5) await(0); cooperative_groups::this_grid().sync();`, 4, 32, true},
	{"a signal that is not consumed", `symm::Signals s{}; s.block[1] = x + 8; symm::put_signal(s, c, 1, 0);`, 1, 1, true},
	{"a signal that is not swapped in", `symm::Signals s{}; s.block[1] = x + 8; c.swaps = 1; symm::put_signal(s, c, 1, 0);`, 1, 1, true},

	{"an own loop", `while (symm::load_acquire(x) == 0);`, 1, 32, false},
	{"an own loop that reads a volatile word", `while (*(volatile unsigned*)x == 0);`, 1, 32, false},
	{"an own loop with Patience",
		`symm::Patience p; for (unsigned v; (v = symm::load_acquire(x)) != 1;) if (p.expired(c, symm::Wait{symm::kUser, 0, 0, 1}, v)) return;`, 1, 32, false},
	{"a loop that sleeps", `while (symm::load_relaxed(x) == 0) __nanosleep(100);`, 1, 1, false},
	{"one thread of many in an own loop", `if (threadIdx.x == 100) while (symm::load_acquire(x) == 0); await(0);`, 1, 256, false},
	{"one block of many in an own loop", `if (blockIdx.x == 3) while (*(volatile unsigned*)x == 0); await(0);`, 5, 32, false},
	{"one thread computes", `if (threadIdx.x == 9) compute(); await(0);`, 1, 64, false},
	{"one block computes", `if (blockIdx.x == 1) compute(); await(0);`, 3, 32, false},
	{"one warp computes, the others are at a barrier", `if (threadIdx.x == 0) await(0); if (threadIdx.x == 40) compute(); __syncthreads();`, 1, 64, false},
	{"an own loop after a wait", `await(8); while (symm::load_acquire(x) == 0);`, 1, 32, false},
	{"a loop of compare-and-swap", `while (atomicCAS(x, 1u, 2u) == 0);`, 1, 1, false},
	{"waits with a deadline", `symm::Context d = c; d.timeout_ns = 3600000000000ull;
	  symm::wait_until<unsigned>(d, x, 1u, symm::kEqual, symm::kUser, 0, 0);`, 1, 32, false},
	{"a loop that votes", `int go; do { go = symm::load_acquire(x) == 0; } while (__syncthreads_or(go));`, 1, 64, false},
}

// standText is the snippet of the kernels: x is 256 words, of which word 8 is 1 and the others are 0.
func standText() string {
	text := "#include <symm.cuh>\n#include <cooperative_groups.h>\n"
	for i, c := range stands {
		text += fmt.Sprintf(`extern "C" __global__ void k%d(symm::Context c, unsigned* x) {
	  auto await = [&](unsigned word) { symm::wait_until<unsigned>(c, x + word %% 256, 1u, symm::kEqual, symm::kUser, 0, word); };
	  auto compute = [&] { for (volatile unsigned i = 0; !(symm::load_relaxed(&c.watch->abort) & 1);) for (int k = 0; k < 1000; k++) i = i + 1; };
	  (void)await, (void)compute;
	  %s
	}
`, i, c.body)
	}
	return text
}

// standing is a series of answers of Stands.
type standing struct {
	numbers map[uint64]bool
	looks   []uint64 // different ones
	not     int      // times at which it does not stand
}

// standing asks for a time, or until there are so many looks.
func (b *bench) standing(s device.Stream, during time.Duration, looks int) standing {
	seen := standing{numbers: map[uint64]bool{}}
	for end := time.Now().Add(during); time.Now().Before(end) && len(seen.looks) < looks; time.Sleep(5 * time.Millisecond) {
		stand, stands := s.(device.Stander).Stands()
		if !stands {
			seen.not++
			continue
		}
		seen.numbers[stand.Number] = true
		if n := len(seen.looks); n == 0 || seen.looks[n-1] != stand.Looks {
			seen.looks = append(seen.looks, stand.Looks)
		}
	}
	return seen
}

// newContext returns the context of a wait without a deadline.
func (b *bench) newContext() []byte {
	return bytesOf([]abi.Context{{Watch: abi.Ptr(unsafe.Pointer(b.Watch())), WorldSize: 2, Channels: 4}})
}

func (b *bench) abortAll() {
	atomic.StoreUint32(&b.Watch().Abort, 1)
	b.stream.Synchronize()
	atomic.StoreUint32(&b.Watch().Abort, 0)
	atomic.StoreUint32(&b.Watch().Fault.State, 0)
}

func TestStands(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *bench{"plain": open, "watched": watch} {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			kernels := b.compile(standText())
			for i, c := range stands {
				words := make([]uint32, 256)
				words[8] = 1
				x := upload(b, words)
				b.sync()
				b.launch(kernels[fmt.Sprintf("k%d", i)], c.blocks, c.threads, b.newContext(), x)
				time.Sleep(100 * time.Millisecond)
				during := 200 * time.Millisecond
				if c.stands {
					during = 20 * time.Second // of a busy machine
					for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
						if _, stands := b.stream.(device.Stander).Stands(); stands {
							break
						}
					}
				}
				seen := b.standing(b.stream, during, 4)
				switch {
				case !c.stands && len(seen.looks) > 0:
					t.Errorf("%s: it stands: %+v", c.name, seen)
				case c.stands && (len(seen.numbers) != 1 || len(seen.looks) < 4 || seen.not > 0):
					t.Errorf("%s: %+v", c.name, seen)
				}
				b.abortAll()
				if _, stands := b.stream.(device.Stander).Stands(); stands {
					t.Errorf("%s: it stands though it has ended", c.name)
				}
				b.Free(x)
			}
		})
	}
}

// A stand ends when a thread makes progress, and the next one has another number. Nothing stands
// while threads end each other's waits.
func TestStandEnds(t *testing.T) {
	b := open(t)
	kernels := b.compile(`#include <symm.cuh>
__global__ void twice(symm::Context c, unsigned* x) {
  for (unsigned want = 1; want < 3; want++)
    if (!symm::wait_until<unsigned>(c, x, want, symm::kEqual, symm::kUser, 0, 0)) return;
}
__global__ void turns(symm::Context c, unsigned* x, unsigned me, unsigned long long until) {
  for (unsigned turn = me; symm_cpu_nanos() < until; turn += 2) {
    if (!symm::wait_until<unsigned>(c, x, turn, symm::kAtLeast, symm::kUser, 0, 0)) return;
    symm::store_release(x, turn + 1);
  }
  symm::store_release(x, 1u << 31);
}`)
	stand := func() device.Stand {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if s, stands := b.stream.(device.Stander).Stands(); stands {
				return s
			}
		}
		t.Fatal("it does not stand")
		return device.Stand{}
	}
	x := upload(b, []uint32{0})
	b.sync()
	b.launch(kernels["twice"], 1, 1, b.newContext(), x)
	first := stand()
	b.Poke(x, 1)
	time.Sleep(50 * time.Millisecond)
	second := stand()
	if b.Poke(x, 2); second.Number == first.Number {
		t.Errorf("%+v after %+v", second, first)
	}
	b.sync()
	if s, stands := b.stream.(device.Stander).Stands(); stands {
		t.Errorf("an idle stream stands: %+v", s)
	}

	other, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	b.Poke(x, 0)
	until := emu.Now() + uint64(400*time.Millisecond)
	b.launch(kernels["turns"], 1, 1, b.newContext(), x, uint32(0), until)
	both := &bench{t, b.Device, other}
	both.launch(kernels["turns"], 1, 1, b.newContext(), x, uint32(1), until)
	looks := map[uint64]map[uint64]bool{} // by number
	for range 60 {
		if s, stands := other.(device.Stander).Stands(); stands {
			if looks[s.Number] == nil {
				looks[s.Number] = map[uint64]bool{}
			}
			looks[s.Number][s.Looks] = true
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.sync()
	both.sync()
	for number, different := range looks {
		if len(different) > 2 {
			t.Errorf("stand %d: %d looks", number, len(different))
		}
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if _, stands := other.(device.Stander).Stands(); stands {
		t.Error("a closed stream stands")
	}
}
