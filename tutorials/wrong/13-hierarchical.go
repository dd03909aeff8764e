//go:build ignore

// Wrong answers to the exercises of 13-hierarchical. The README says how they are written.

// %% [wrong] What crosses
// says: only a slice of the vector crosses from each
func crosses(way string, ranks, hosts, bytes int) int {
	if way == "flat" {
		return (ranks - ranks/hosts) * bytes
	}
	return (hosts - 1) * bytes
}

// %% [wrong] What crosses
// says: nothing crosses to the ranks of the rank's own host
@@
-		return (ranks - p) * bytes
+		return (ranks - 1) * bytes

// %% [wrong] What crosses
// says: flat, a rank sends its vector to every rank of the other hosts
@@
-		return (ranks - p) * bytes
+		return (hosts - 1) * bytes

// %% [wrong] What crosses
// says: the rank's own host needs no copy over the network
@@
-	return (hosts - 1) * bytes / p
+	return hosts * bytes / p

// %% [wrong] What crosses
// says: count what one rank sends, not all 4 ranks of a host
@@
-		return (ranks - p) * bytes
+		return p * (ranks - p) * bytes

// %% [wrong] Predict: two hosts of two
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: two hosts of two
// says: 10 is the sum of all
predict := 10.0

// %% [wrong] Predict: two hosts of two
// says: 3 is the vector of rank 2 alone
predict := 3.0

// %% [wrong] Predict: two hosts of two
// says: ranks 0 and 2 are a rail
predict := 4.0

// %% [wrong] Predict: two hosts of two
// says: add up what the ranks of its host have
predict := 5.0 // the numbers without the 1

// %% [wrong] Repair: the same bits
// says: every host must add in the same order
addUp := symm.Compile(`
__global__ void add_up(const float* inbox, float* slice, int length, int hosts, int me) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) { // around from its own host
    float total = slice[i];
    for (int step = 1; step < hosts; step++) total += inbox[(me + step) % hosts * length + i];
    slice[i] = total;
  }
}`)

// %% [wrong] Repair: the same bits
// says: every host must add in the same order
addUp := symm.Compile(`
__global__ void add_up(const float* inbox, float* slice, int length, int hosts, int me) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) { // its own host at the end
    float total = 0;
    for (int host = 0; host < hosts; host++)
      if (host != me) total += inbox[host * length + i];
    slice[i] += total;
  }
}`)

// %% [wrong] Repair: the same bits
// says: but symm.AllReduce gives
@@
-  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
+  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) { // the same order everywhere, but another one
@@
-    for (int host = 0; host < hosts; host++) total += host == me ? slice[i] : inbox[host * length + i];
+    for (int host = hosts - 1; host >= 0; host--) total += host == me ? slice[i] : inbox[host * length + i];

// %% [wrong] Repair: the same bits
// says: but symm.AllReduce gives
@@
-  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
-    float total = 0;
+  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) { // rounded once, at the end
+    double total = 0;

// %% [wrong] Repair: the same bits
// says: the place of its own host in the inbox is not filled
@@
-    for (int host = 0; host < hosts; host++) total += host == me ? slice[i] : inbox[host * length + i];
+    for (int host = 0; host < hosts; host++) total += inbox[host * length + i];

// %% [wrong] Repair: the same bits
// says: the sum of each host must be added once
@@
-  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
-    float total = 0;
+  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) { // its own host twice
+    float total = slice[i];

// %% [wrong] Repair: the same bits
// says: the sum of each host must be added once
addUp := symm.Compile(`
__global__ void add_up(const float* inbox, float* slice, int length, int hosts, int me) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) { // its own host never
    float total = 0;
    for (int host = 0; host < hosts; host++)
      if (host != me) total += inbox[host * length + i];
    slice[i] = total;
  }
}`)

// %% [wrong] Repair: the same bits
// says: length can be more than the number of threads
@@
-  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
+  if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length) {
