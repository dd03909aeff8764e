#include <vector>

#include "rows.cuh"
#include "symm.cuh"

// Adds the buffers of all ranks.
//
// symm: test one_shot
// x symmetric f32[1000] = rank + i
// out f32[1000]
// one_shot<<<4, 256>>>(handle(x), out, 1000)
// expect out == rank_sum(x)
//
// symm: test again
// ranks 3
// x symmetric f32[10, 10*size] = hash(i + 1000*rank) % 100
// out f32[100*size]
// one_shot<<<2, dim3(32, 2)>>>(handle(x), out, 100*size) repeat 3
// expect out ~= rank_sum(x) rtol 1e-6
// expect x == x
extern "C" __global__ void one_shot(symm::Handle h, float* out, int n) {
  if (n > kRows || !symm::barrier(h, blockIdx.x)) return;
  const int threads = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = blockIdx.x * threads + me; i < n; i += gridDim.x * threads) {
    float sum = 0;
    for (int p = 0; p < h.world_size; p++) sum += h.buffer<float>(p)[i];
    out[i] = sum;
  }
  symm::barrier(h, blockIdx.x);
}

/* symm: test shift
 * hosts 1
 * x symmetric i32[4] = 10*rank + i
 * y i32[4]
 * go want := 10 * ((rank + 1) % size)
 * shift<int><<<1, 4, 16>>>(peers(x), y, (rank + 1) % size) stream s
 * expect y == on((rank + 1) % size, x)
 * go if y.Ints()[0] != want { panic("shift") }
 */
template <class T> __global__ void shift(T** x, T* y, int peer) {
  extern __shared__ T part[];
  part[threadIdx.x] = x[peer][threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = part[threadIdx.x];
}

// symm: test race
// ranks 4
// x symmetric f32[64] = rank
// no_barrier<<<1, 64>>>(handle(x))
// expect finding race between ranks
extern "C" __global__ void no_barrier(symm::Handle h) {
  float* mine = h.buffer<float>(h.rank);
  mine[threadIdx.x] = 5;
  mine[threadIdx.x] = h.buffer<float>((h.rank + 1) % h.world_size)[threadIdx.x];
}

// symm: test dies
// ranks 2
// go if rank == 1 { os.Exit(3) }
// expect error
//
// symm: test after
// ranks 2
// x f32[3] = i
// expect x == i

// symm: test structs
// x symmetric f32[32] = rank + i
// y f32[32]
// both<<<1, 32>>>(table(x, 4), pointers(x, 4), y)
// expect y == on(0, x) + on(1, x)
struct Four {
  float* of[4];
};
extern "C" __global__ void both(Four by_value, const Four* by_pointer, float* y) {
  y[threadIdx.x] = by_value.of[1][threadIdx.x] + by_pointer->of[0][threadIdx.x];
}

class Runner {
  std::vector<float> x_;
  cudaStream_t stream_;
};

void launch(std::vector<float>& x) { no_barrier<<<1, 1>>>(x.data()); }

int main() { return 0; }
