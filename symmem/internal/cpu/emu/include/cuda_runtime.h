// cuda_runtime.h for the cpu device: what kernels use of it is there already.
#pragma once
