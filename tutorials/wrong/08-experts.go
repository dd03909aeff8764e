//go:build ignore

// Wrong answers to the exercises of 08-experts. The README says how they are written.

// %% [wrong] The weighted sum
// says: place[c] is the row of copy c
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
// says: multiply each copy by its weight
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
// says: a token has two copies, whose rows are added
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    for (int c = 2 * t; c < 2 * t + 2; c++) y[t * hidden + j] = weight[c] * back[place[c] * hidden + j];
  }
}`)

// %% [wrong] The weighted sum
// says: weight[c]
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    float sum = 0;
    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[t] * back[place[c] * hidden + j];
    y[t * hidden + j] = sum;
  }
}`)

// %% [wrong] The weighted sum
// says: some elements of y are not written
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    float sum = 0;
    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[place[c] * hidden + j];
    y[t * hidden] = sum;
  }
}`)

// %% [wrong] The weighted sum
// says: reads right behind f32[8, 4]
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  {
    int j = threadIdx.x; // 32 threads, and rows of 4
    float sum = 0;
    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[place[c] * hidden + j];
    y[t * hidden + j] = sum;
  }
}`)
