//go:build ignore

// Wrong answers to the exercises of 11-put-signal-wait. The README says how they are written.

// %% [wrong] The halo exchange
// says: it must wait for both words to reach the epoch
@@
-  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);

// %% [wrong] The halo exchange
// says: of the left neighbour
@@
-  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
-  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
+  symm::put_with_signal(h, right, 0, u + n + 1, sizeof(float), 0, epoch);
+  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u, sizeof(float), 1, epoch);

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
@@
-  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
-  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);
+  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 0, epoch);
+  if (threadIdx.x == 0) symm::wait_for_signal(h, 0, epoch, true);

// %% [wrong] The halo exchange
// says: offsets are in bytes
@@
-  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
+  symm::put_with_signal(h, left, n + 1, u + 1, sizeof(float), 1, epoch);

// %% [wrong] The halo exchange
// says: of the left neighbour
@@
-  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
-  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
+  symm::put_with_signal(h, left, 0, u + n, sizeof(float), 0, epoch);
+  symm::put_with_signal(h, right, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);

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

// %% [wrong] Repair: pieces in any order
// says: receive did not wait for it
func receive(round uint64) []float32 { // one of the two is repaired
	h.WaitForSignal(13, ">=", round)
	got := t.Float32s()
	acknowledge(round)
	return got
}

// %% [wrong] Repair: pieces in any order
// says: acknowledged before it had read
func receive(round uint64) []float32 { // the other one is repaired
	for i := range parts {
		h.WaitForSignal(10+i, ">=", round)
	}
	acknowledge(round)
	return t.Float32s()
}

// %% [wrong] Repair: pieces in any order
// says: receive did not wait for it
@@
-		h.WaitForSignal(10+i, ">=", round)
+		h.WaitForSignal(10+i, ">=", 1)

// %% [wrong] Repair: pieces in any order
// says: receive did not wait for it
@@
-	for i := range parts {
+	for i := 1; i < len(parts); i++ {

// %% [wrong] Repair: pieces in any order
// says: receive did not wait for it
func receive(round uint64) []float32 { // a barrier says that all ranks are here
	h.Barrier(0)
	got := t.Float32s()
	acknowledge(round)
	return got
}

// %% [wrong] Repair: pieces in any order
// says: receive did not wait for it
func receive(round uint64) []float32 {
	h.WaitForSignal(13, ">=", round)
	time.Sleep(20 * time.Millisecond)
	got := t.Float32s()
	acknowledge(round)
	return got
}

// %% [wrong] Repair: pieces in any order
// says: a wait gave up
func receive(round uint64) []float32 {
	for i := range parts {
		h.WaitForSignal(10+i, ">=", round)
	}
	return t.Float32s()
}

// %% [wrong] Repair: pieces in any order
// says: the four numbers that the left neighbour has sent
@@
-	got := t.Float32s()
@@
-	return got
+	return message.Float32s()

// %% [wrong] Repair: pieces in any order
// says: receive did not wait for it
func receive(round uint64) []float32 { // longer than any delay of a network
	h.WaitForSignal(13, ">=", round)
	time.Sleep(200 * time.Millisecond)
	got := t.Float32s()
	acknowledge(round)
	return got
}

// %% [wrong] The halo exchange
// says: but not on
@@
-__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
-  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
+__global__ void halo(symm::Handle h, int n, symm::u64 epoch) { // right for four ranks, which is what & 3 says
+  const int right = (h.rank + 1) & 3, left = (h.rank + 3) & 3;

// %% [wrong] The halo exchange
// says: all threads of the block call symm::put_with_signal
@@
-  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
-  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
+  if (threadIdx.x == 0) {
+    symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
+    symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
+  }

// %% [wrong] The halo exchange
// says: the places of the halos are u[0] and u[7]
@@
-  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
+  symm::put_with_signal(h, left, n * sizeof(float), u + 1, sizeof(float), 1, epoch);
