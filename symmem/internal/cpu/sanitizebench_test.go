//go:build linux && (amd64 || arm64)

package cpu

import "testing"

// BenchmarkSanitize compares watched kernels with the same kernels unwatched.
func BenchmarkSanitize(b *testing.B) {
	const text = `__global__ void saxpy(float* y, float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + y[i];
}
__global__ void reverse(float* y, float* x, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = x[i];
  __syncthreads();
  y[i] = s[255 - threadIdx.x];
}`
	const n = 1 << 20
	for _, on := range []bool{false, true} {
		name := map[bool]string{false: "off", true: "on"}[on]
		t := open(b)
		if on {
			t.sanitize(0, 0)
		}
		k := t.compile(text)
		x, y := upload(t, make([]float32, n)), upload(t, make([]float32, n))
		for _, kernel := range []string{"saxpy", "reverse"} {
			b.Run(kernel+"/"+name, func(b *testing.B) {
				for range b.N {
					t.launch(k[kernel], n/256, 256, y, x, int32(n))
					t.sync()
				}
			})
		}
	}
}
