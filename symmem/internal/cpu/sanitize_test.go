//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// watch returns a device that watches accesses as rank 0.
func watch(t testing.TB) *bench {
	t.Helper()
	b := open(t)
	b.sanitize(0, 0)
	return b
}

func (b *bench) sanitizer() device.Sanitizer { return b.Device.(device.Sanitizer) }

func (b *bench) sanitize(rank int, seed int64) {
	b.Helper()
	shadow, err := b.sanitizer().Shadow(true)
	if err != nil {
		b.Fatal(err)
	}
	if err := b.sanitizer().Sanitize(device.Sanitizing{On: true, Rank: rank, Shadow: shadow, Seed: seed}); err != nil {
		b.Fatal(err)
	}
}

// findings waits, and returns the findings as text: "race in a block: 7 writes, 5 reads".
func (b *bench) findings() []string {
	b.Helper()
	b.sync()
	return words(b.sanitizer().Findings())
}

func words(findings []device.Finding) []string {
	var all []string
	for _, f := range findings {
		var accesses []string
		for _, a := range f.Accesses {
			accesses = append(accesses, fmt.Sprint(a.Line, " ", a.Op))
		}
		all = append(all, f.Kind.String()+": "+strings.Join(accesses, ", "))
	}
	return all
}

// expect compares findings; a want that ends in "|..." gives alternatives.
func (b *bench) expect(want ...string) {
	b.Helper()
	got := b.findings()
	ok := len(got) == len(want)
	for i := range got {
		if i < len(want) && !strings.Contains("|"+want[i]+"|", "|"+got[i]+"|") {
			ok = false
		}
	}
	if !ok {
		b.Errorf("found %q, want %q", got, want)
	}
}

// watchedCase is a kernel with one argument, a tensor of 64 floats, and its expected findings.
type watchedCase struct {
	name        string
	text        string
	grid, block int
	want        []string
}

var watchedCases = []watchedCase{
	{"own element", `__global__ void k(float* t) { t[threadIdx.x] += 1; }`, 1, 64, nil},
	{"behind the end", `__global__ void k(float* t) {
  t[threadIdx.x] = 1;
}`, 1, 62, []string{"out of bounds: 2 writes"}},
	{"neighbour without a barrier", `__global__ void k(float* t) {
  t[threadIdx.x] = 1;
  float v = t[63 - threadIdx.x];
  if (v == 7) t[threadIdx.x] = v;
}`, 1, 64, []string{"race in a block: 3 reads, 2 writes|race in a block: 2 writes, 3 reads"}},
	{"neighbour behind a barrier", `__global__ void k(float* t) {
  t[threadIdx.x] = 1;
  __syncthreads();
  float v = t[63 - threadIdx.x];
  __syncthreads();
  t[threadIdx.x] = v;
}`, 1, 64, nil},
	{"in functions that are a part of what calls them", `EMU_APART void store(float* p) { *p = 1; }
EMU_APART void store_at(float* t, int i) { store(t + i); }
__global__ void k(float* t) {
  store(t + threadIdx.x);
  store_at(t, 63 - threadIdx.x);
}`, 1, 64, []string{"race in a block: 5 writes, 4 writes|race in a block: 4 writes, 5 writes"}},
	{"barriers in a function that is a part of what calls it", `EMU_APART void meet() { __syncthreads(); }
__global__ void k(float* t) {
  if (threadIdx.x < 32) {
    t[threadIdx.x] = 1;
    meet();
  } else {
    meet();
  }
}`, 1, 64, []string{"divergent barrier: 7 waits at, 5 waits at"}},
	{"shared memory", `__global__ void k(float* t) {
  __shared__ float s[64];
  s[threadIdx.x] = t[threadIdx.x];
  __syncthreads();
  t[threadIdx.x] = s[63 - threadIdx.x];
}`, 1, 64, nil},
	{"shared memory that nobody wrote", `__global__ void k(float* t) {
  __shared__ float s[64];
  s[threadIdx.x] = t[threadIdx.x];
  __syncthreads();
  t[threadIdx.x] = s[63 - threadIdx.x];
}`, 1, 32, []string{"never written: 5 reads"}},
	{"shared memory without a barrier", `__global__ void k(float* t) {
  __shared__ float s[64];
  s[threadIdx.x] = t[threadIdx.x];
  t[threadIdx.x] = s[threadIdx.x ^ 1];
}`, 1, 64, []string{"race in a block: 3 writes, 4 reads"}},
	{"shared memory that is read first and written behind a barrier", `__global__ void k(float* t) {
  __shared__ float s[64];
  t[threadIdx.x] = s[63 - threadIdx.x];
  __syncthreads();
  s[threadIdx.x] = t[threadIdx.x];
}`, 1, 64, []string{"never written: 3 reads"}},
	{"shared memory that all add to first", `__global__ void k(float* t) {
  __shared__ unsigned s;
  atomicAdd(&s, 1u);
  __syncthreads();
  t[threadIdx.x] = s;
}`, 1, 32, []string{"never written: 3 reads atomically"}},
	{"shared memory that is added to first", `__global__ void k(float* t) {
  __shared__ unsigned s;
  if (threadIdx.x == 1) atomicAdd(&s, 1u);
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  t[threadIdx.x] = s;
}`, 1, 2, []string{"race in a block: 3 writes atomically, 4 writes"}},
	{"a warp in step", `__global__ void k(float* t) {
  __shared__ float s[64];
  s[threadIdx.x] = t[threadIdx.x];
  __syncwarp();
  t[threadIdx.x] = s[threadIdx.x ^ 1];
}`, 1, 64, nil},
	{"a half of a warp in step", `__global__ void k(float* t) {
  __shared__ float s[64];
  s[threadIdx.x] = t[threadIdx.x];
  __syncwarp(threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u);
  t[threadIdx.x] = s[threadIdx.x ^ 1];
}`, 1, 64, nil},
	{"blocks add", `__global__ void k(float* t) {
  atomicAdd(t, 1.f);
}`, 4, 64, nil},
	{"blocks write the same", `__global__ void k(float* t) {
  *t = 1;
}`, 2, 1, []string{"race between blocks: 2 writes, 2 writes"}},
	{"the last block", `__device__ unsigned done;
__global__ void k(float* t) {
  t[blockIdx.x] = 1;
  __threadfence();
  if (atomicAdd(&done, 1u) == gridDim.x - 1) {
    __threadfence();
    for (unsigned i = 1; i < gridDim.x; i++) t[0] += t[i];
  }
}`, 4, 1, nil},
	{"the last block without a fence", `__device__ unsigned done;
__global__ void k(float* t) {
  t[blockIdx.x] = 1;
  if (atomicAdd(&done, 1u) == gridDim.x - 1) {
    for (unsigned i = 1; i < gridDim.x; i++) t[40] += t[i];
  }
}`, 4, 1, []string{"order too weak: 5 reads, 3 writes"}},
	{"the last block with a fence of the block", `__device__ unsigned done;
__global__ void k(float* t) {
  t[blockIdx.x] = 1;
  __threadfence_block();
  if (atomicAdd(&done, 1u) == gridDim.x - 1) {
    __threadfence();
    for (unsigned i = 1; i < gridDim.x; i++) t[40] += t[i];
  }
}`, 4, 1, []string{"order too weak: 7 reads, 3 writes"}},
	{"volatile flag with fences", `__global__ void k(float* t) {
  volatile float* flag = t + 60;
  if (threadIdx.x == 0) {
    t[0] = 1;
    __threadfence();
    *flag = 7;
  } else {
    while (*flag != 7) ;
    __threadfence();
    t[1] = t[0];
  }
}`, 1, 2, nil},
	{"volatile flag without a fence", `__global__ void k(float* t) {
  volatile float* flag = t + 60;
  if (threadIdx.x == 0) {
    t[0] = 1;
    *flag = 7;
  } else {
    while (*flag != 7) ;
    t[1] = t[0];
  }
}`, 1, 2, []string{"order too weak: 8 reads, 4 writes"}},
	{"a barrier that some have left", `__global__ void k(float* t) {
  if (threadIdx.x == 63) return;
  __syncthreads();
  t[threadIdx.x] = 1;
}`, 1, 64, []string{"divergent barrier: 3 waits at"}},
	{"half of a warp", `__global__ void k(float* t) {
  if (threadIdx.x < 16)
    __syncwarp();
  t[threadIdx.x] = 1;
}`, 1, 32, []string{"divergent barrier: 3 waits at"}},
	{"an atomic operation of the block", `__global__ void k(unsigned* t) {
  atomicAdd_block(t, 1u);
}`, 2, 1, []string{"order too weak: 2 writes atomically, 2 writes atomically"}},
	{"a vote for a barrier of the warp", `__global__ void k(float* t) {
  __shared__ float s[32];
  s[threadIdx.x] = 1;
  if (__any_sync(~0u, t[40] == 7)) return;
  t[threadIdx.x] = s[threadIdx.x ^ 1];
}`, 1, 32, []string{"race in a block: 5 reads, 3 writes"}},
	{"a vote and a barrier of the warp", `__global__ void k(float* t) {
  __shared__ float s[32];
  s[threadIdx.x] = 1;
  if (__any_sync(~0u, t[40] == 7)) return;
  __syncwarp();
  t[threadIdx.x] = s[threadIdx.x ^ 1];
}`, 1, 32, nil},
	{"a shuffle brings its value only", `__global__ void k(float* t) {
  __shared__ float s[32];
  s[threadIdx.x] = __shfl_xor_sync(~0u, 2.f, 1);
  int other = __shfl_xor_sync(~0u, (int)threadIdx.x, 1);
  t[threadIdx.x] = s[other];
}`, 1, 32, []string{"race in a block: 5 reads, 3 writes"}},
	{"additions of two widths", `__global__ void k(unsigned* t) {
  if (threadIdx.x == 0) atomicAdd((unsigned long long*)t, 1ull);
  else atomicAdd(t, 1u);
}`, 1, 2, []string{"race in a block: 3 writes atomically, 2 writes atomically"}},
	{"additions to neighbours", `__global__ void k(unsigned* t) {
  atomicAdd(t + threadIdx.x, 1u);
}`, 2, 2, nil},
	{"flags of one byte", `__global__ void k(float* t) {
  unsigned char* flags = (unsigned char*)(t + 60);
  if (threadIdx.x == 0) {
    t[0] = 1;
    __atomic_store_n(flags, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(flags + 1, __ATOMIC_ACQUIRE) == 0) ;
    t[2] = t[1];
  } else {
    t[1] = 1;
    __atomic_store_n(flags + 1, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(flags, __ATOMIC_ACQUIRE) == 0) ;
    t[3] = t[0];
  }
}`, 1, 2, nil},
	{"flags of two bytes, one of them relaxed", `__global__ void k(float* t) {
  unsigned short* flags = (unsigned short*)(t + 60);
  if (threadIdx.x == 0) {
    t[0] = 1;
    __atomic_store_n(flags, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(flags + 1, __ATOMIC_ACQUIRE) == 0) ;
    t[2] = t[1];
  } else {
    t[1] = 1;
    __atomic_store_n(flags + 1, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(flags, __ATOMIC_ACQUIRE) == 0) ;
    t[3] = t[0];
  }
}`, 1, 2, []string{"order too weak: 7 reads, 9 writes"}},
	{"a warp's sums, volatile", `__global__ void k(float* t) {
  __shared__ volatile float s[64];
  s[threadIdx.x] = t[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) {
    s[threadIdx.x] += s[threadIdx.x + 32];
    s[threadIdx.x] += s[threadIdx.x + 16];
  }
}`, 1, 64, []string{"race in a block: 7 reads, 6 writes", "race in a block: 7 reads, 7 writes"}},
	{"a warp's sums, volatile, in step", `__global__ void k(float* t) {
  __shared__ volatile float s[64];
  s[threadIdx.x] = t[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) {
    float sum = s[threadIdx.x] + s[threadIdx.x + 32];
    __syncwarp();
    s[threadIdx.x] = sum;
    __syncwarp();
    if (threadIdx.x < 16) s[threadIdx.x] += s[threadIdx.x + 16];
  }
}`, 1, 64, nil},
	{"a flag between lanes", `__global__ void k(float* t) {
  __shared__ volatile int flag[32];
  flag[threadIdx.x] = 0;
  __syncwarp();
  flag[threadIdx.x] = 1;
  while (flag[threadIdx.x ^ 1] == 0) ;
  __threadfence_block();
  flag[threadIdx.x] = 2;
}`, 1, 32, nil},
	{"two flags, and a fence", `__global__ void k(volatile float* t) {
  if (blockIdx.x == 0) {
    t[3] = 1;
    __threadfence();
    t[0] = 1;
    t[1] = 1;
  } else {
    while (t[1] == 0) ;
    while (t[0] == 0) ;
    __threadfence();
    t[2] = t[3];
  }
}`, 2, 1, nil},
	{"a value that is compared before it is replaced", `__global__ void k(unsigned* t) {
  while (atomicAdd(t + 1, 0u) != threadIdx.x) ;
  unsigned old = *(volatile unsigned*)t, seen;
  while ((seen = atomicCAS(t, old, old + 1)) != old) old = seen;
  atomicAdd(t + 1, 1u);
}`, 1, 4, nil},
	{"words with a flag of their own", `__global__ void k(volatile unsigned long long* t) {
  if (blockIdx.x == 0) {
    for (int i = 3; i >= 0; i--) t[i] = 1ull << 32 | i;
  } else {
    unsigned long long sum = 0, word;
    for (int i = 0; i < 4; i++) {
      while ((word = t[i]) >> 32 == 0) ;
      sum += word;
    }
    t[5] = sum;
  }
}`, 2, 1, nil},
	{"barriers apart", `__global__ void k(float* t) {
  if (threadIdx.x < 32) {
    t[0] = t[1];
    __syncthreads();
  } else {
    __syncthreads();
  }
}`, 1, 64, []string{"race in a block: 3 writes, 3 writes", "divergent barrier: 6 waits at, 4 waits at"}},
}

// g++ ignores the section that EMU_APART names for templates, so accesses in them would have no line of the
// snippet. Headers mark templates by SYMM_INLINE_TEMPLATE and SYMM_APART_TEMPLATE.
func TestSanitizedTemplates(t *testing.T) {
	headers, err := allHeaders()
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`(?m)^.*\b(SYMM_INLINE|SYMM_APART|SYMM_ONCE|EMU_APART) .*$`)
	functions := 0
	for _, h := range append(headers, kernels.BuiltinHeaders()...) {
		for _, line := range marked.FindAllString(h.Text, -1) {
			if strings.HasPrefix(line, "#define") || strings.HasPrefix(line, "//") {
				continue
			}
			functions++
			if strings.Contains(line, "template") {
				t.Errorf("%s: %s", h.Name, line)
			}
		}
	}
	if functions < 10 {
		t.Errorf("%d functions are marked", functions)
	}
}

func TestSanitize(t *testing.T) {
	for _, c := range watchedCases {
		t.Run(c.name, func(t *testing.T) {
			b := watch(t)
			k := b.compile(c.text)["k"]
			p := upload(b, make([]float32, 64))
			b.sync()
			if c.name == "behind the end" {
				b.sanitizer().Mark(nil, p+61*4, 12, device.MemoryOutside)
			}
			b.launch(k, c.grid, c.block, p)
			b.expect(c.want...)
		})
	}
}

// rankCase is a kernel k(own, peer, rank) on a tensor of 64 words on each of two ranks; own is the
// rank's tensor, peer the other's.
var rankCases = []struct {
	name, text string
	block      int
	want       []string // of both ranks together
}{
	{"store into the peer, released by a word", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    peer[threadIdx.x] = 7;
    __syncthreads();
    if (threadIdx.x == 0) symm::store_release(peer + 63, 1u);
  } else {
    if (threadIdx.x == 0) while (symm::load_acquire(own + 63) != 1) symm_cpu_yield();
    __syncthreads();
    own[threadIdx.x] += 1;
  }
}`, 32, nil},
	{"store into the peer, without a barrier of the block", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    peer[threadIdx.x] = 7;
    if (threadIdx.x == 0) symm::store_release(peer + 63, 1u);
  } else {
    if (threadIdx.x == 0) do symm_cpu_yield(); while (symm::load_acquire(own + 63) != 1); // so it comes to the barrier last
    __syncthreads();
    own[threadIdx.x + 32] = own[threadIdx.x];
  }
}`, 32, []string{"race between ranks: 8 reads, 3 writes"}},
	{"store into the peer, without a wait", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    peer[threadIdx.x] = 7;
  } else {
    own[threadIdx.x + 32] = own[threadIdx.x];
  }
}`, 32, []string{"race between ranks: 5 reads, 3 writes"}},
	{"volatile words with fences of the system", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    *peer = 7;
    __threadfence_system();
    *(volatile unsigned*)(peer + 63) = 1;
  } else {
    while (*(volatile unsigned*)(own + 63) != 1) ;
    __threadfence_system();
    own[1] = own[0];
  }
}`, 1, nil},
	{"a fence of the device", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    *peer = 7;
    __threadfence();
    *(volatile unsigned*)(peer + 63) = 1;
  } else {
    while (*(volatile unsigned*)(own + 63) != 1) ;
    __threadfence_system();
    own[1] = own[0];
  }
}`, 1, []string{"order too weak: 9 reads, 3 writes"}},
	{"an atomic operation of the system", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    *peer = 7;
    __threadfence_system();
    atomicAdd_system(peer + 63, 1u);
  } else {
    while (atomicAdd_system(own + 63, 0u) != 1) ;
    __threadfence_system();
    own[1] = own[0];
  }
}`, 1, nil},
	{"a word that is reset by whoever saw the addition", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    atomicAdd_system(peer + 63, 1u);
  } else {
    while (*(volatile unsigned*)(own + 63) != 1) ;
    own[63] = 0;
  }
}`, 1, nil},
	{"a word that is reset behind a barrier of the block", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    if (threadIdx.x == 0) atomicAdd_system(peer + 63, 1u);
  } else {
    if (threadIdx.x == 0) while (*(volatile unsigned*)(own + 63) != 1) ;
    __syncthreads();
    own[63] = 0;
  }
}`, 2, []string{"race in a block: 7 writes, 7 writes"}},
	{"a word that is reset by whoever saw one of two additions", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    atomicAdd_system(peer + 63, 1u);
    atomicAdd_system(peer + 63, 1u);
    peer[62] = 1;
  } else {
    while (*(volatile unsigned*)(own + 63) == 0) ;
    own[62] = 0;
  }
}`, 1, []string{"race between ranks: 5 writes, 8 writes"}},
	{"data that is there when the addition is seen", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    *peer = 7;
    atomicAdd_system(peer + 63, 1u);
  } else {
    while (*(volatile unsigned*)(own + 63) != 1) ;
    own[63] = own[0];
  }
}`, 1, []string{"order too weak: 3 writes, 7 reads"}},
	{"an atomic operation of the device", `__global__ void k(unsigned* own, unsigned* peer, int rank) {
  if (rank == 0) {
    *peer = 7;
    __threadfence_system();
    atomicAdd(peer + 63, 1u);
  } else {
    while (atomicAdd_system(own + 63, 0u) != 1) ;
    __threadfence_system();
    own[1] = own[0];
  }
}`, 1, []string{"order too weak: 7 writes atomically, 5 writes atomically", "order too weak: 9 reads, 3 writes"}},
	{"a packet tells of itself only", `__global__ void k(symm::Packet* own, symm::Packet* peer, int rank) {
  if (rank == 0) {
    peer[1].data[0] = 7;
    symm::store_packet(peer, symm::Packet{{1, 2, 3}, 9});
  } else {
    while (symm::load_packet(own).epoch != 9) symm_cpu_yield();
    own[2].data[0] = own[1].data[0];
  }
}`, 1, []string{"order too weak: 7 reads, 3 writes"}},
}

// An access beyond an array or shared memory is a fault, and is reported as a finding first.
func TestSanitizeArrays(t *testing.T) {
	b := watch(t)
	for _, c := range []struct {
		name, text     string
		threads        int
		shared         int
		faults         bool
		finding, where string
	}{
		{"behind an array in shared memory", `__global__ void k(float* t) {
  __shared__ float s[63];
  s[threadIdx.x] = t[threadIdx.x];
}`, 64, 0, true, "out of bounds: 3 accesses", "element 63 of 'float [63]'"},
		{"behind shared memory, by an address", `__global__ void k(float* t) {
  __shared__ float s[32];
  float* p = s + threadIdx.x;
  *p = t[threadIdx.x];
  __syncthreads();
  t[threadIdx.x] = s[0];
}`, 33, 0, true, "out of bounds: 4 writes", "behind the block's shared memory, of 128 bytes"},
		{"in front of shared memory", `__global__ void k(float* t) {
  __shared__ float s[32];
  float* p = s + threadIdx.x - 1;
  *p = t[threadIdx.x];
  __syncthreads();
  t[threadIdx.x] = s[0];
}`, 32, 0, false, "out of bounds: 4 writes", "4 bytes in front of the block's shared memory"},
		{"behind dynamic shared memory", `__global__ void k(float* t) {
  extern __shared__ float s[];
  s[threadIdx.x] = t[threadIdx.x];
}`, 26, 100, false, "shared memory beyond what was asked for: 3 writes", "behind the block's shared memory, of 100 bytes"},
		{"a negative index of an array", `__global__ void k(float* t) {
  float v[4] = {1, 2, 3, 4};
  t[threadIdx.x] = v[(int)threadIdx.x - 1];
}`, 4, 0, true, "out of bounds: 3 accesses", "element -1 of 'float [4]'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.alloc(256)
			b.launchShared(b.compile(c.text)["k"], [3]int{1, 1, 1}, [3]int{c.threads, 1, 1}, c.shared, p)
			if err := b.stream.Synchronize(); (err != nil) != c.faults {
				t.Errorf("a fault: %v, want one: %v", err, c.faults)
			}
			found := b.sanitizer().Findings()
			if got := words(found); !slices.Equal(got, []string{c.finding}) || strings.ReplaceAll(found[0].Memory, "float[", "float [") != c.where {
				t.Errorf("%v, want %q, %q", found, c.finding, c.where)
			}
		})
	}
}

// Memory that processes share keeps its addresses for a while after it is freed.
func TestSanitizeFreedSegment(t *testing.T) {
	b := watch(t)
	k := b.compile(`__global__ void k(float* out, const float* from) {
  out[0] = from[3];
}`)["k"]
	out := b.alloc(4)
	s, err := b.NewSegment(100)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Ptr()
	b.launch(k, 1, 1, out, p)
	b.expect()
	s.Close()
	b.launch(k, 1, 1, out, p)
	b.expect("use after free: 2 reads")
	for range mostQuarantined {
		s, err := b.NewSegment(1)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	b.launch(k, 1, 1, out, p)
	if err := b.stream.Synchronize(); err == nil {
		t.Error("its addresses are kept for good")
	}
}

// TestSanitizeRanks runs each case twice: both ranks at the same time, and rank 1 when rank 0 has
// finished. Rank 0 waits for nothing.
func TestSanitizeRanks(t *testing.T) {
	for i := range 2 * len(rankCases) {
		c, inTurns := rankCases[i/2], i%2 == 1
		t.Run(fmt.Sprintf("%s/in turns=%t", c.name, inTurns), func(t *testing.T) {
			a, b := watch(t), open(t)
			b.sanitize(1, 0)
			size := 4096
			own := make([]device.Ptr, 2)
			peer := make([]device.Ptr, 2)
			for i, w := range []*bench{a, b} {
				s, err := w.NewSegment(size)
				if err != nil {
					t.Fatal(err)
				}
				fd, err := s.Export()
				if err != nil {
					t.Fatal(err)
				}
				other := []*bench{b, a}[i]
				mapped, err := other.ImportSegment(fd, size)
				if err != nil {
					t.Fatal(err)
				}
				own[i], peer[1-i] = s.Ptr(), mapped.Ptr()
			}
			for i, w := range []*bench{a, b} {
				w.launch(w.compile(c.text)["k"], 1, c.block, own[i], peer[i], int32(i))
				if inTurns {
					w.sync()
				}
			}
			got, want := unordered(append(a.findings(), b.findings()...)), unordered(c.want)
			if !slices.Equal(got, want) {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}

// unordered returns findings without the parts that depend on which of two ranks came first: either
// one may report a finding, or both.
func unordered(findings []string) []string {
	var all []string
	for _, f := range findings {
		kind, accesses, _ := strings.Cut(f, ": ")
		both := strings.Split(accesses, ", ")
		slices.Sort(both)
		all = append(all, kind+": "+strings.Join(both, ", "))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSanitizeStreams: two streams, with and without an event.
func TestSanitizeStreams(t *testing.T) {
	const text = `__global__ void k(float* t) {
  t[threadIdx.x] += 1;
}`
	for _, ordered := range []bool{true, false} {
		t.Run(fmt.Sprint("ordered=", ordered), func(t *testing.T) {
			b := watch(t)
			k := b.compile(text)["k"]
			p := upload(b, make([]float32, 64))
			b.sync()
			other, err := b.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			e, err := b.NewEvent()
			if err != nil {
				t.Fatal(err)
			}
			b.launch(k, 1, 64, p)
			b.stream.Record(e)
			if ordered {
				other.Wait(e)
			}
			first := b.stream
			b.stream = other
			b.launch(k, 1, 64, p)
			b.sync()
			b.stream = first
			if got := b.findings(); (len(got) == 0) != ordered {
				t.Errorf("found %q", got)
			}
		})
	}
}

// TestSanitizeSeeds checks that the order of threads differs between seeds, and that correct
// kernels have no findings.
func TestSanitizeSeeds(t *testing.T) {
	b := open(t)
	const text = `__global__ void k(unsigned* order, unsigned* next) {
  unsigned mine = atomicAdd(next, 1u);
  order[mine] = threadIdx.x;
}`
	orders := map[string]bool{}
	for seed := range int64(5) {
		for range 2 {
			b.sanitize(0, seed)
			k := b.compile(text)["k"]
			order, next := upload(b, make([]uint32, 32)), upload(b, make([]uint32, 1))
			b.launch(k, 1, 32, order, next)
			orders[fmt.Sprint(seed, download[uint32](b, order, 32))] = true
		}
	}
	if got := b.findings(); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	kinds := map[string]bool{}
	for o := range orders {
		_, order, _ := strings.Cut(o, " ")
		kinds[order] = true
	}
	if len(kinds) < 4 {
		t.Errorf("5 seeds gave %d orders", len(kinds))
	}
}

// TestSanitizeSpins checks that threads that spin on a word can be interrupted anywhere, even
// within an atomic operation, and still learn what the word publishes.
func TestSanitizeSpins(t *testing.T) {
	const text = `__global__ void k(unsigned* turn, unsigned* data, int rounds) {
  unsigned me = threadIdx.x, n = blockDim.x;
  for (unsigned i = me; i < rounds * n; i += n) {
    while (symm::load_acquire(turn) != i);
    *data += 1;
    symm::store_release(turn, i + 1);
  }
}`
	const threads, rounds = 4, 30
	b := watch(t)
	turn, data := upload(b, make([]uint32, 1)), upload(b, make([]uint32, 1))
	b.launch(b.compile(text)["k"], 1, threads, turn, data, int32(rounds))
	b.expect()
	if got := download[uint32](b, data, 1)[0]; got != threads*rounds {
		t.Errorf("%d turns, want %d", got, threads*rounds)
	}
}

func TestCanWatch(t *testing.T) {
	for _, c := range []struct{ name, version, dumped, refused string }{
		{"g++", "g++ (Debian) 12.2.0", "12", ""},
		{"old g++", "g++ (GCC) 10.2.1", "10", "need g++ 11 or newer, and "},
		{"clang++", "Debian clang version 14.0.6", "14.0.6", ""},
		{"old clang++", "clang version 13.0.1", "13.0.1", "need clang++ 14 or newer, and "},
		{"another", "a compiler", "unknown", "need g++ 11 or newer, and "},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c++")
			script := fmt.Sprintf("#!/bin/sh\ncase $1 in --version) echo %q;; -dumpversion) echo %q;; esac\n", c.version, c.dumped)
			if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			switch err := (CXX{Path: path}).CanWatch(); {
			case c.refused == "" && err != nil:
				t.Error(err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused+path+" is "+c.dumped)):
				t.Errorf("%v, want %q", err, c.refused)
			}
		})
	}
	if err := (CXX{Path: filepath.Join(t.TempDir(), "none")}).CanWatch(); err == nil || !strings.Contains(err.Error(), "does not run") {
		t.Error(err)
	}
}

// TestPTXWatched: inline PTX and __nv_atomic_* order accesses of two blocks as their order and scope
// say. A block writes t[0] and then a flag; the other waits for the flag and reads t[0].
func TestPTXWatched(t *testing.T) {
	const weak, none = "order too weak: 7 reads, 3 writes", ""
	const narrow = "order too weak: 5 reads atomically, 4 writes atomically; " + weak // the flag itself is of a block
	for name, c := range map[string]struct{ store, load, want string }{
		"release and acquire": {`asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, none},
		"at system scope": {`asm volatile("st.release.sys.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, none},
		"release of a block": {`asm volatile("st.release.cta.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, narrow},
		"acquire of a block": {`asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, narrow},
		"relaxed": {`asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, weak},
		"relaxed load": {`asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, weak},
		"relaxed, with fences": {`asm volatile("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.relaxed.gpu.global.u32 %0, [%1]; fence.acq_rel.gpu;" : "=r"(v) : "l"(f) : "memory");`, none},
		"volatile": {`asm volatile("st.volatile.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, weak},
		"volatile, with membar": {`asm volatile("membar.gl; st.volatile.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.volatile.global.u32 %0, [%1]; membar.gl;" : "=r"(v) : "l"(f) : "memory");`, none},
		"with membar of a block": {`asm volatile("membar.cta; st.volatile.global.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.volatile.global.u32 %0, [%1]; membar.gl;" : "=r"(v) : "l"(f) : "memory");`, weak},
		"red.release": {`asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, none},
		"red": {`asm volatile("red.global.add.u32 [%0], 1;" :: "l"(f) : "memory");`,
			`asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");`, weak},
		"atom.acq_rel": {`asm volatile("{ .reg .u32 t; atom.acq_rel.gpu.global.exch.b32 t, [%0], 1; }" :: "l"(f) : "memory");`,
			`asm volatile("atom.acq_rel.gpu.global.or.b32 %0, [%1], 0;" : "=r"(v) : "l"(f) : "memory");`, none},
		"vectors, relaxed": {`asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {1, 0, 0, 0};" :: "l"(f) : "memory");`,
			`{ unsigned a, b, c; asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v), "=r"(a), "=r"(b), "=r"(c) : "l"(f) : "memory"); }`, weak},
		"__nv_atomic": {`__nv_atomic_store_n(f, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);`,
			`v = __nv_atomic_load_n(f, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);`, none},
		"__nv_atomic, relaxed": {`__nv_atomic_store_n(f, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);`,
			`v = __nv_atomic_load_n(f, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);`, weak},
		"__nv_atomic of a block": {`__nv_atomic_store_n(f, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);`,
			`v = __nv_atomic_load_n(f, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);`, narrow},
	} {
		t.Run(name, func(t *testing.T) {
			b := watch(t)
			k := b.compile("__global__ void k(unsigned* t) {\n  unsigned* f = t + 32;\n  if (blockIdx.x == 0) { t[0] = 1;\n    " +
				c.store + "\n  } else { unsigned v = 0; while (!v) { " + c.load +
				" }\n\n    t[1] = t[0];\n  }\n}")["k"]
			b.launch(k, 2, 1, upload(b, make([]uint32, 64)))
			var want []string
			if c.want != none {
				want = strings.Split(c.want, "; ")
			}
			b.expect(want...)
		})
	}
	// A weak access races; a relaxed one does not.
	for text, want := range map[string][]string{
		`asm volatile("st.global.u32 [%0], 1;" :: "l"(t) : "memory");`:              {"race between blocks: 2 writes, 2 writes"},
		`asm volatile("st.weak.global.v2.u32 [%0], {1, 2};" :: "l"(t) : "memory");`: {"race between blocks: 2 writes, 2 writes"},
		`asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" :: "l"(t) : "memory");`:  nil,
		`asm volatile("st.volatile.global.u32 [%0], 1;" :: "l"(t) : "memory");`:     nil,
		`asm volatile("red.global.add.u32 [%0], 1;" :: "l"(t) : "memory");`:         nil,
	} {
		b := watch(t)
		k := b.compile("__global__ void k(unsigned* t) {\n  " + text + "\n}")["k"]
		b.launch(k, 2, 1, upload(b, make([]uint32, 64)))
		b.expect(want...)
	}
}
