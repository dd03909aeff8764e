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
// says on the cpu device: reads right behind f32[8, 4]
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

// %% [wrong] Predict: the place of a copy
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: the place of a copy
// says: 3 is the place of copy 0
predict := 3.0

// %% [wrong] Predict: the place of a copy
// says: that is the place of copy 4
predict := 5.0

// %% [wrong] Predict: the place of a copy
// says: the copies for smaller experts come before
predict := 1.0

// %% [wrong] Predict: the place of a copy
// says: count the copies for smaller experts
predict := 2.0

// %% [wrong] Repair: splits for ranks
// says: expert e is on rank e / 2
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < ranks) {
    int n = 0;
    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] % per == r;
    splits[r] = n;
  }
}`)

// %% [wrong] Repair: splits for ranks
// says: copies with the choice -1 are counted for rank 0
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < ranks) {
    int n = 0;
    for (int c = 0; c < copies; c++) n += choice[c] / per == r;
    splits[r] = n;
  }
}`)

// %% [wrong] Repair: splits for ranks
// says: added to what was in splits before
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < ranks) {
    for (int c = 0; c < copies; c++) splits[r] += choice[c] >= 0 && choice[c] / per == r;
  }
}`)

// %% [wrong] Repair: splits for ranks
// says: expert e is on rank e / 2
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < ranks) {
    int n = 0;
    for (int c = 0; c < copies; c++) n += choice[c] == r;
    splits[r] = n;
  }
}`)

// %% [wrong] Repair: splits for ranks
// says: expert e is on rank e / 2
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < ranks) {
    int n = 0;
    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per <= r;
    splits[r] = n;
  }
}`)

// %% [wrong] Repair: splits for ranks
// says: expert e is on rank e / 3
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < ranks) {
    int n = 0;
    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / 2 == r;
    splits[r] = n;
  }
}`)

// %% [wrong] Repair: splits for ranks
// says: it is right for 4 ranks, but not for 5
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < 4) {
    int n = 0;
    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per == r;
    splits[r] = n;
  }
}`)
