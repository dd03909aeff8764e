//go:build ignore

// Wrong answers to the exercises of 07-low-latency-packets. The README says how they are written.

// %% [wrong] Collect by packets
// says: TODO
collect := symm.Compile(`
__global__ void collect(symm::Handle h, const float* in, float* out, int n, unsigned epoch) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    symm::u64 packet = (symm::u64)epoch << 32 | __float_as_uint(in[i]);
    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(h.buffer<symm::u64>(p) + h.rank * n + i, packet);
    for (int p = 0; p < h.world_size; p++) {
      const symm::u64* place = h.buffer<symm::u64>(h.rank) + p * n + i;
      symm::Patience patience;
      symm::Wait wait = {symm::kUser, (unsigned)p, 0, epoch};
      while ((packet = symm::load_relaxed(place)) >> 32 != epoch)
        if (patience.expired(h, wait, packet >> 32)) return;
      patience.satisfied(h);
      out[p * n + i] = __uint_as_float((unsigned)packet);
    }
  }
}`)

// %% [wrong] Collect by packets
// says: TODO
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
