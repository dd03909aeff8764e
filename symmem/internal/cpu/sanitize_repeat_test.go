//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"strings"
	"testing"
)

// TestSanitizeRepeatedAccess: an access that is repeated in the same epoch is checked once only. The
// races of its repetitions are found all the same, and accesses that look alike are not confused.
func TestSanitizeRepeatedAccess(t *testing.T) {
	cases := []watchedCase{
		// Thread 1 reads again and again before and after thread 0 stores.
		{"a store between repeated reads", `__global__ void k(float* t) {
  float v = 0;
  for (int i = 0; i < 8; i++) {
    if (threadIdx.x) v += t[0];
    __shfl_sync(~0u, 0, 0);
    if (threadIdx.x == 0 && i == 4) t[0] = 1;
    __shfl_sync(~0u, 0, 0);
  }
  t[threadIdx.x + 2] = v;
}`, 1, 2, []string{"race in a block: 6 writes, 4 reads|race in a block: 4 reads, 6 writes"}},
		{"a barrier between the reads and the store", `__global__ void k(float* t) {
  float v = 0;
  for (int i = 0; i < 8; i++) {
    if (threadIdx.x) v += t[0];
    __syncthreads();
    if (threadIdx.x == 0 && i == 4) t[0] = 1;
    __syncthreads();
  }
  t[threadIdx.x + 2] = v;
}`, 1, 2, nil},
		// The epoch of the reads before the barrier is over.
		{"the same read on both sides of a barrier, the store behind it", `__global__ void k(float* t) {
  float v = 0;
  for (int i = 0; i < 2; i++) {
    if (threadIdx.x) v += t[0];
    if (i == 0) __syncthreads();
  }
  __shfl_sync(~0u, 0, 0);
  if (threadIdx.x == 0) t[0] = 1;
  t[threadIdx.x + 2] = v;
}`, 1, 2, []string{"race in a block: 8 writes, 4 reads|race in a block: 4 reads, 8 writes"}},
		{"a repeated store in place of a repeated read", `__global__ void k(float* t) {
  for (int i = 0; i < 8; i++) {
    ((float volatile*)t)[32 + threadIdx.x] = i;
    t[0] = i;
  }
}`, 1, 2, []string{"race in a block: 4 writes, 4 writes"}},
		// Only what the word had published when it was loaded last is known. The last store is of one
		// byte, since clang merges stores of equal size on two branches into one, which has no line.
		{"a word that is loaded again after another release", `__global__ void k(float* t) {
  unsigned* word = (unsigned*)t;
  for (unsigned i = 1; i <= 3; i++) {
    if (threadIdx.x == 0) {
      t[8] = i;
      if (i < 3) symm::store_release(word, i);
    } else {
      while (i < 3 && symm::load_acquire(word) < i);
      if (i < 3) t[8] = -1.f;
      symm::store_release(word + 1, i);
      if (i == 3) ((char*)(t + 8))[0] = 1;
    }
    if (threadIdx.x == 0) while (symm::load_acquire(word + 1) < i);
  }
}`, 1, 2, []string{"race in a block: 11 writes, 5 writes|race in a block: 5 writes, 11 writes"}},
		{"a word that is loaded again after each release", `__global__ void k(float* t) {
  unsigned* word = (unsigned*)t;
  for (unsigned i = 1; i <= 3; i++) {
    if (threadIdx.x == 0) {
      t[8] = i;
      symm::store_release(word, i);
    } else {
      while (symm::load_acquire(word) < i);
      t[8] = -1.f;
      symm::store_release(word + 1, i);
    }
    if (threadIdx.x == 0) while (symm::load_acquire(word + 1) < i);
  }
}`, 1, 2, nil},
		// Additions of all threads form a chain of releases, which is joined in place.
		{"the last of all adders reads what each has written", `__global__ void k(float* t) {
  __shared__ unsigned came;
  if (threadIdx.x == 0) came = 0;
  __syncthreads();
  t[threadIdx.x] = 1;
  __threadfence_block();
  unsigned before = atomicAdd(&came, 1u);
  __threadfence_block();
  if (before == blockDim.x - 1)
    for (int i = 1; i < blockDim.x; i++) t[0] += t[i];
}`, 1, 62, nil},
		{"the last of all adders, one of which has no fence", `__global__ void k(float* t) {
  __shared__ unsigned came;
  if (threadIdx.x == 0) came = 0;
  __syncthreads();
  t[threadIdx.x] = 1;
  if (threadIdx.x != 7) __threadfence_block();
  unsigned before = atomicAdd(&came, 1u);
  __threadfence_block();
  if (before == blockDim.x - 1)
    for (int i = 1; i < blockDim.x; i++) t[0] += t[i];
}`, 1, 62, []string{"order too weak: 10 reads, 5 writes"}},
	}
	b, text := watch(t), ""
	for i, c := range cases { // all in one text, which is compiled once
		text += strings.Replace(c.text, " k(", fmt.Sprintf(" k%d(", i), 1) + "\n#line 1\n"
	}
	kernels := b.compile(text)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			on := &bench{t, b.Device, b.stream}
			on.launch(kernels[fmt.Sprint("k", i)], c.grid, c.block, upload(on, make([]float32, 64)))
			on.expect(c.want...)
		})
	}
}
