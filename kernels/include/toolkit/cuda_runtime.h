// cuda_runtime.h: empty, because the parts that kernels use are already declared.
#pragma once
