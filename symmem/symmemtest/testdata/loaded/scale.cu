// A kernel with parameters of several sizes, compiled by nvcc of CUDA 13.0:
//
//	nvcc -ptx -arch=compute_75 scale.cu
//	nvcc -fatbin -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_75,code=compute_75 scale.cu
//	nvcc -fatbin -Xfatbin -compress-all -gencode arch=compute_90,code=sm_90 -o packed.fatbin scale.cu
extern "C" __global__ void scale(float* x, char c, long long n, short s, float a) {
	for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = x[i] * a + c + s;
}
extern "C" __global__ void nothing() {}
