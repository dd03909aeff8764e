//go:build ignore

// Wrong answers to the exercises of 04-one-shot-all-reduce. The README says how they are written.

// %% [wrong] The maximum
// says: what is the initial maximum
@@
-    float best = h.buffer<float>(0)[i];
-    for (int p = 1; p < h.world_size; p++) {
+    float best = 0;
+    for (int p = 0; p < h.world_size; p++) {

// %% [wrong] The maximum
// says: 32 threads must handle 100 elements
biggest := symm.Compile(`
__global__ void biggest(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  int i = threadIdx.x;
  float best = h.buffer<float>(0)[i];
  for (int p = 1; p < h.world_size; p++) best = fmaxf(best, h.buffer<float>(p)[i]);
  out[i] = best;
  symm::barrier(h, 0);
}`)

// %% [wrong] The maximum
// says: a barrier must wait for it before any rank reads
@@
-  if (!symm::barrier(h, 0)) return;

// %% [wrong] The maximum
// says: what is missing at the end
@@
-  symm::barrier(h, 0);

// %% [wrong] The maximum
// says: out has the smallest elements
@@
-      if (v > best) best = v;
+      if (v < best) best = v;

// %% [wrong] The maximum
// says: out has the sums
biggest := symm.Compile(`
__global__ void biggest(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    out[i] = total;
  }
  symm::barrier(h, 0);
}`)

// %% [wrong] The maximum
// says: only its own elements
@@
-    float best = h.buffer<float>(0)[i];
+    float best = h.buffer<float>(h.rank)[i];
@@
-      float v = h.buffer<float>(p)[i];
+      float v = h.buffer<float>(h.rank)[i];

// %% [wrong] Predict: the work of a thread
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: the work of a thread
// says: would be right for thread 4
predict := 3.0

// %% [wrong] Predict: the work of a thread
// says: threads share whole elements
predict := 3.125

// %% [wrong] Predict: the work of a thread
// says: is not the work of one thread
predict := 32.0

// %% [wrong] Predict: the work of a thread
// says: its i is 3, then 32 more each time
predict := 5.0

// %% [wrong] Repair: the difference
// says: 32 threads must handle 100 elements
gap := symm.Compile(`
__global__ void gap(symm::Handle h, float* out, int n) {
  int i = threadIdx.x, right = (h.rank + 1) % h.world_size;
  if (!symm::barrier(h, 0)) return;
  if (i < n) out[i] = h.buffer<float>(right)[i] - h.buffer<float>(h.rank)[i];
  symm::barrier(h, 0);
}`)

// %% [wrong] Repair: the difference
// says: a barrier must wait for it before any rank reads
@@
-  if (!symm::barrier(h, 0)) return;
+  

// %% [wrong] Repair: the difference
// says on the cpu device: while its left neighbour still reads
@@
-  symm::barrier(h, 0);
+  

// %% [wrong] Repair: the difference
// says: the opposite sign
@@
-  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = h.buffer<float>(right)[i] - h.buffer<float>(h.rank)[i];
+  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = h.buffer<float>(h.rank)[i] - h.buffer<float>(right)[i];

// %% [wrong] Repair: the difference
// says: which rank's buffer does the kernel read
@@
-  int right = (h.rank + 1) % h.world_size;
+  int right = (h.rank + h.world_size - 1) % h.world_size;

// %% [wrong] Repair: the difference
// says: a barrier must wait for it before any rank reads
gap := symm.Compile(`
__global__ void gap(symm::Handle h, float* out, int n) {
  int right = (h.rank + 1) % h.world_size;

  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = h.buffer<float>(right)[i] - h.buffer<float>(h.rank)[i];

}`)

// %% [wrong] The maximum
// says: it is right on 4 ranks, but not on 3
@@
-    for (int p = 1; p < h.world_size; p++) {
-      float v = h.buffer<float>(p)[i];
-      if (v > best) best = v;
-    }
+    for (int p = 1; p < 4; p++) best = fmaxf(best, h.buffer<float>(p)[i]);

// %% [wrong] Repair: the difference
// says: it is right on 4 ranks, but not on 3
@@
-  int right = (h.rank + 1) % h.world_size;
+  int right = (h.rank + 1) & 3;
