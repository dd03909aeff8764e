//go:build ignore

// Wrong answers to the exercises of 08-experts. The README says how they are written.

// %% [wrong] The weighted sum
// says: TODO
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    float sum = 0;
    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[c * hidden + j];
    y[t * hidden + j] = sum;
  }
}`)

// %% [wrong] The weighted sum
// says: TODO
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    float sum = 0;
    for (int c = 2 * t; c < 2 * t + 2; c++) sum += back[place[c] * hidden + j];
    y[t * hidden + j] = sum;
  }
}`)

// %% [wrong] The weighted sum
// says: TODO
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    for (int c = 2 * t; c < 2 * t + 2; c++) y[t * hidden + j] = weight[c] * back[place[c] * hidden + j];
  }
}`)
