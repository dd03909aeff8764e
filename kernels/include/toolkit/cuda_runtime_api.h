// cuda_runtime_api.h: what kernels use of it is there already.
#pragma once
