// cuda_runtime_api.h: empty, because the parts that kernels use are already declared.
#pragma once
