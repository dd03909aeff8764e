//go:build ignore

// Wrong answers to the exercises of 04-one-shot-all-reduce. The README says how they are written.

// %% [wrong] The maximum
// says: TODO
biggest := symm.Compile(`
__global__ void biggest(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float best = 0;
    for (int p = 0; p < h.world_size; p++) {
      float v = h.buffer<float>(p)[i];
      if (v > best) best = v;
    }
    out[i] = best;
  }
  symm::barrier(h, 0);
}`)

// %% [wrong] The maximum
// says: TODO
biggest := symm.Compile(`
__global__ void biggest(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  int i = threadIdx.x;
  float best = h.buffer<float>(0)[i];
  for (int p = 1; p < h.world_size; p++) {
    float v = h.buffer<float>(p)[i];
    if (v > best) best = v;
  }
  out[i] = best;
  symm::barrier(h, 0);
}`)

// %% [wrong] The maximum
// says: TODO
biggest := symm.Compile(`
__global__ void biggest(symm::Handle h, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float best = h.buffer<float>(0)[i];
    for (int p = 1; p < h.world_size; p++) best = fmaxf(best, h.buffer<float>(p)[i]);
    out[i] = best;
  }
  symm::barrier(h, 0);
}`)
