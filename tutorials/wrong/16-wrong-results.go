//go:build ignore

// Wrong answers to the exercises of 16-wrong-results. The README says how they are written.

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size, i = threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    h.buffer<int>(next)[i] = 10 * round + h.rank;
    __syncthreads();
    if (i == 0) symm::put_signal(h, next, 0);
    if (i == 0) symm::wait_signal(h, last, 0);
    __syncthreads();
    sums[i] += h.buffer<int>(h.rank)[i];
  }
}`)

// %% [wrong] Make it clean
// says: a sum is not what the left neighbour has sent
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  for (int round = 0; round < rounds; round++) sums[threadIdx.x] += h.rank;
}`)

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size, i = threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    h.buffer<int>(next)[i] = 10 * round + h.rank;
    if (i == 0) symm::put_signal(h, next, 0);
    if (i == 0) symm::wait_signal(h, last, 0);
    __syncthreads();
    sums[i] += h.buffer<int>(h.rank)[i];
    __syncthreads();
    if (i == 0) symm::put_signal(h, last, 1);
    if (i == 0) symm::wait_signal(h, next, 1);
    __syncthreads();
  }
}`)

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size, i = threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    h.buffer<int>(next)[i] = 10 * round + h.rank;
    __syncthreads();
    if (i == 0) symm::put_signal(h, next, 0);
    if (i == 0) symm::wait_signal(h, last, 0);
    sums[i] += h.buffer<int>(h.rank)[i];
    __syncthreads();
    if (i == 0) symm::put_signal(h, last, 1);
    if (i == 0) symm::wait_signal(h, next, 1);
    __syncthreads();
  }
}`)

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size, i = threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    h.buffer<int>(next)[i] = 10 * round + h.rank;
    __syncthreads();
    if (i == 0) symm::put_signal(h, next, 0);
    if (i == 0) symm::wait_signal(h, last, 0);
    __syncthreads();
    sums[i] += h.buffer<int>(h.rank)[i];
    if (i == 0) symm::put_signal(h, last, 1);
    if (i == 0) symm::wait_signal(h, next, 1);
    __syncthreads();
  }
}`)

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size, i = threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    h.buffer<int>(next)[i] = 10 * round + h.rank;
    __syncthreads();
    if (i == 0) symm::put_signal(h, next, 0);
    if (i == 0) symm::wait_signal(h, last, 0);
    __syncthreads();
    sums[i] += h.buffer<int>(h.rank)[i];
    __syncthreads();
    if (i == 0) symm::put_signal(h, last, 1);
    if (i == 0) symm::wait_signal(h, next, 1);
  }
}`)
