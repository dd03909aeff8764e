//go:build ignore

// Wrong answers to the exercises of 07-low-latency-packets. The README says how they are written.

// %% [wrong] Collect by packets
// says: bank
@@
-__device__ symm::u64* box(const symm::Handle& h, int owner, int source, unsigned epoch, int n) {
-  return h.buffer<symm::u64>(owner) + ((epoch & 1) * h.world_size + source) * n;
-}
-
@@
-    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(box(h, p, h.rank, epoch, n) + i, packet);
+    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(h.buffer<symm::u64>(p) + h.rank * n + i, packet);
@@
-      const symm::u64* place = box(h, h.rank, p, epoch, n) + i;
+      const symm::u64* place = h.buffer<symm::u64>(h.rank) + p * n + i;

// %% [wrong] Collect by packets
// says: compare with the epoch, since the inbox still has an older one
collect := symm.Compile(`
__global__ void collect(symm::Handle h, const float* in, float* out, int n, unsigned epoch) {
  int bank = epoch & 1;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    symm::u64 packet = (symm::u64)epoch << 32 | __float_as_uint(in[i]);
    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(h.buffer<symm::u64>(p) + (bank * h.world_size + h.rank) * n + i, packet);
    for (int p = 0; p < h.world_size; p++) {
      const symm::u64* place = h.buffer<symm::u64>(h.rank) + (bank * h.world_size + p) * n + i;
      symm::Patience patience;
      symm::Wait wait = {symm::kUser, (unsigned)p, 0, epoch};
      while ((packet = symm::load_relaxed(place)) == 0)
        if (patience.expired(h, wait, packet >> 32)) return;
      patience.satisfied(h);
      out[p * n + i] = __uint_as_float((unsigned)packet);
    }
  }
}`)

// %% [wrong] Collect by packets
// says: out is not everybody's in
@@
-      out[p * n + i] = __uint_as_float((unsigned)packet);
+      out[i * h.world_size + p] = __uint_as_float((unsigned)packet);

// %% [wrong] Collect by packets
// says: an expected packet never came
@@
-    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(box(h, p, h.rank, epoch, n) + i, packet);
+    for (int p = 0; p < h.world_size; p++) if (p != h.rank) symm::store_relaxed(box(h, p, h.rank, epoch, n) + i, packet);

// %% [wrong] Collect by packets
// says: out is not everybody's in
@@
-      out[p * n + i] = __uint_as_float((unsigned)packet);
+      out[h.rank * n + i] = __uint_as_float((unsigned)packet);

// %% [wrong] Collect by packets
// says on the cpu device: is a packet one store and one load, of 8 bytes?
@@
-    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(box(h, p, h.rank, epoch, n) + i, packet);
+    for (int p = 0; p < h.world_size; p++) {
+      volatile unsigned* halves = (volatile unsigned*)(box(h, p, h.rank, epoch, n) + i);
+      halves[0] = __float_as_uint(in[i]);
+      halves[1] = epoch;
+    }

// %% [wrong] Predict: bytes on the wire
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: bytes on the wire
// says: 1200 is the data alone
predict := 1200.0

// %% [wrong] Predict: bytes on the wire
// says: would be right for packets of 8 bytes
predict := 2400.0

// %% [wrong] Predict: bytes on the wire
// says: would be right for lines
predict := 1280.0

// %% [wrong] Predict: bytes on the wire
// says: is a number of packets
predict := 100.0

// %% [wrong] Repair: take
// says: take did not wait for it
@@
-  while (packet >> 32 != epoch) {
+  while (packet == 0) {
@@
-  out[i] = __uint_as_float((unsigned)packet);
+  out[i] = __uint_as_float((unsigned)(packet));

// %% [wrong] Repair: take
// says: take gave up
@@
-    packet = symm::load_relaxed(place);
+    
@@
-  out[i] = __uint_as_float((unsigned)packet);
+  out[i] = __uint_as_float((unsigned)(packet));

// %% [wrong] Repair: take
// says: the number is in the other half
@@
-  out[i] = __uint_as_float((unsigned)packet);
+  out[i] = __uint_as_float((unsigned)(packet >> 32));

// %% [wrong] Repair: take
// says: take gave up
@@
-  while (packet >> 32 != epoch) {
+  while ((unsigned)packet != epoch) {
@@
-  out[i] = __uint_as_float((unsigned)packet);
+  out[i] = __uint_as_float((unsigned)(packet));

// %% [wrong] Repair: take
// says: take did not wait for it
@@
-  while (packet >> 32 != epoch) {
+  while (packet >> 32 > epoch) {
@@
-  out[i] = __uint_as_float((unsigned)packet);
+  out[i] = __uint_as_float((unsigned)(packet));

// %% [wrong] Repair: take
// says: take gave up
@@
-  while (packet >> 32 != epoch) {
+  while (packet >> 32 != epoch + 1) {
@@
-  out[i] = __uint_as_float((unsigned)packet);
+  out[i] = __uint_as_float((unsigned)(packet));

// %% [wrong] Repair: take
// says: packets for this rank are in its own inbox
@@
-  const symm::u64* place = h.buffer<symm::u64>(h.rank) + i;
+  const symm::u64* place = h.buffer<symm::u64>(from) + i;

// %% [wrong] Repair: take
// says: read as a whole number
@@
-  out[i] = __uint_as_float((unsigned)packet);
+  out[i] = (float)packet;

// %% [wrong] Repair: take
// says: read as a whole number
@@
-  out[i] = __uint_as_float((unsigned)packet);
+  out[i] = (unsigned)packet;

// %% [wrong] Collect by packets
// says: it is right on 4 ranks, but not on 3
@@
-    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(box(h, p, h.rank, epoch, n) + i, packet);
-    for (int p = 0; p < h.world_size; p++) {
+    for (int p = 0; p < 4; p++) symm::store_relaxed(box(h, p, h.rank, epoch, n) + i, packet);
+    for (int p = 0; p < 4; p++) {
