// cuda_runtime.h: what kernels use of it is there already.
#pragma once
