//go:build linux && (amd64 || arm64)

package cpu

import (
	"slices"
	"testing"
)

// A block that leaves ends at once, wherever its threads are. The other blocks continue, also at
// barriers of the grid, and so does the next launch.
func TestLeave(t *testing.T) {
	b := open(t)
	k := b.compile(`
#include <cooperative_groups.h>
__global__ void some_leave(int* x, int who) {
  int* const mine = x + blockIdx.x * blockDim.x + threadIdx.x;
  *mine = 1;
  if (who >= 0) __syncthreads();
  if ((int)blockIdx.x % 3 == 1) {
    if ((int)threadIdx.x == who || who < 0) symm::leave();
    __syncthreads();
    *mine = 9;
  }
  cooperative_groups::this_grid().sync();
  const int theirs = x[(blockIdx.x + 3) % gridDim.x * blockDim.x + threadIdx.x];
  cooperative_groups::this_grid().sync();
  *mine += 10 * theirs;
}`)["some_leave"]
	const blocks, threads = 9, 40
	for _, who := range []int{-1, 0, 17, 39} {
		for range 20 {
			x := upload(b, make([]int32, blocks*threads))
			b.launch(k, blocks, threads, x, int32(who))
			b.sync()
			got := download[int32](b, x, blocks*threads)
			for block := range blocks {
				want := int32(11)
				switch {
				case block%3 == 1 && who < 0: // the first thread leaves before the others begin
					if got := got[block*threads : (block+1)*threads]; got[0] != 1 || slices.Max(got) != 1 {
						t.Fatalf("thread %d, block %d: %v", who, block, got)
					}
					continue
				case block%3 == 1:
					want = 1
				}
				for i, v := range got[block*threads : (block+1)*threads] {
					if v != want {
						t.Fatalf("thread %d, block %d: element %d is %d, want %d", who, block, i, v, want)
					}
				}
			}
		}
	}
}
