//go:build ignore

// Wrong answers to the exercises of 16-wrong-results. The README says how they are written.

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
@@
-    __syncthreads();
-    if (i == 0) symm::put_signal(h, last, 1);
-    if (i == 0) symm::wait_signal(h, next, 1);
-    __syncthreads();

// %% [wrong] Make it clean
// says: a sum is not what the left neighbour has sent
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  for (int round = 0; round < rounds; round++) sums[threadIdx.x] += h.rank;
}`)

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
@@
     h.buffer<int>(next)[i] = 10 * round + h.rank;
-    __syncthreads();

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
@@
     if (i == 0) symm::wait_signal(h, last, 0);
-    __syncthreads();

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
@@
     sums[i] += h.buffer<int>(h.rank)[i];
-    __syncthreads();

// %% [wrong] Make it clean
// says: the sanitizer finds accesses that nothing orders
@@
     if (i == 0) symm::wait_signal(h, next, 1);
-    __syncthreads();

// %% [wrong] Repair: an order that is strong enough
// says: the sanitizer finds accesses that are not ordered
@@
   if (threadIdx.x == 0) {
-    __threadfence_system();
+    __threadfence();
@@
     while (*(volatile unsigned*)h.pad(h.rank) == 0);
-    __threadfence_system();
+    __threadfence();

// %% [wrong] Repair: an order that is strong enough
// says: the sanitizer finds accesses that are not ordered
@@
     while (*(volatile unsigned*)h.pad(h.rank) == 0);
-    __threadfence_system();

// %% [wrong] Repair: an order that is strong enough
// says: the sanitizer finds accesses that are not ordered
@@
   if (threadIdx.x == 0) {
-    __threadfence_system();

// %% [wrong] Repair: an order that is strong enough
// says: the sanitizer finds accesses that are not ordered
hand := symm.Compile(`
__global__ void hand(symm::Handle h, int* out) {
  int next = (h.rank + 1) % h.world_size;
  h.buffer<int>(next)[threadIdx.x] = h.rank;
  __syncthreads();
  if (threadIdx.x == 0) {
    *(volatile unsigned*)h.pad(next) = 1;
    __threadfence_system();
    __threadfence_system();
    while (*(volatile unsigned*)h.pad(h.rank) == 0);
  }
  __syncthreads();
  out[threadIdx.x] = h.buffer<int>(h.rank)[threadIdx.x];
}`)

// %% [wrong] Repair: an order that is strong enough
// says: the sanitizer finds accesses that are not ordered
@@
-    __threadfence_system();
-    *(volatile unsigned*)h.pad(next) = 1;
-    while (*(volatile unsigned*)h.pad(h.rank) == 0);
-    __threadfence_system();
+    symm::store_relaxed(h.pad(next), 1u);
+    while (symm::load_relaxed(h.pad(h.rank)) == 0);

// %% [wrong] Repair: an order that is strong enough
// says: the sanitizer finds accesses that are not ordered
@@
   }
-  __syncthreads();
+  

// %% [wrong] Repair: an order that is strong enough
// says: out is not the number of the left neighbour
hand := symm.Compile(`
__global__ void hand(symm::Handle h, int* out) { // no communication
  out[threadIdx.x] = h.rank - 1;
}`)

// %% [wrong] Predict: how many threads are outside?
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: how many threads are outside?
// says: 12 would be right for x[i]
predict := 12.0

// %% [wrong] Predict: how many threads are outside?
// says: 250 is the number of threads that write inside
predict := 250.0

// %% [wrong] Predict: how many threads are outside?
// says: the last one is 499
predict := 261.0

// %% [wrong] Predict: how many threads are outside?
// says: some threads of the first are, too
predict := 256.0

// %% [wrong] Predict: how many threads are outside?
// says: count those with
predict := 24.0

// %% [wrong] Repair: an order that is strong enough
// says: it is right on 4 ranks, but not on 3
@@
-  int next = (h.rank + 1) % h.world_size;
+  int next = (h.rank + 1) & 3;

// %% [wrong] Make it clean
// says: it is right on 4 ranks, but not on 3
@@
-  int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size, i = threadIdx.x;
+  int next = (h.rank + 1) & 3, last = (h.rank + 3) & 3, i = threadIdx.x;
