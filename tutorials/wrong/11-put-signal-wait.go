//go:build ignore

// Wrong answers to the exercises of 11-put-signal-wait. The README says how they are written.

// %% [wrong] The halo exchange
// says: it must wait for both words to reach the epoch
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
}`)

// %% [wrong] The halo exchange
// says: of the left neighbour
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n + 1, sizeof(float), 0, epoch);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u, sizeof(float), 1, epoch);
  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);
}`)

// %% [wrong] The halo exchange
// says: it must wait for both words to reach the epoch
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, 1);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, 1);
  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, 1, true);
}`)

// %% [wrong] The halo exchange
// says: it must wait for both words to reach the epoch
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 0, epoch);
  if (threadIdx.x == 0) symm::wait_for_signal(h, 0, epoch, true);
}`)

// %% [wrong] The halo exchange
// says: offsets are in bytes
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  symm::put_with_signal(h, left, n + 1, u + 1, sizeof(float), 1, epoch);
  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);
}`)

// %% [wrong] The halo exchange
// says: of the left neighbour
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, left, 0, u + n, sizeof(float), 0, epoch);
  symm::put_with_signal(h, right, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);
}`)

// %% [wrong] Predict: around six ranks
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: around six ranks
// says: 5 is the block of step 0
predict := 5.0

// %% [wrong] Predict: around six ranks
// says: the first step is step 0
predict := 3.0

// %% [wrong] Predict: around six ranks
// says: comes in another step
predict := 4.0

// %% [wrong] Predict: around six ranks
// says: comes in another step
predict := 1.0

// %% [wrong] Predict: around six ranks
// says: whose block in step s
predict := 6.0
