// All operations in one translation unit. Each has a namespace of its own, for its helpers' sake; the kernels are extern "C".
#include "cuda_on_cpu.h"
#include "symm.cuh"
#include "reduce.cuh"

namespace operation_arange {
#include "arange.cu"
}
namespace operation_barrier {
#include "barrier.cu"
}
namespace operation_fill {
#include "fill.cu"
}
namespace operation_one_shot_all_reduce {
#include "one_shot_all_reduce.cu"
}
namespace operation_one_shot_all_reduce_pull {
#include "one_shot_all_reduce_pull.cu"
}
namespace operation_put_signal {
#include "put_signal.cu"
}
namespace operation_put_with_signal {
#include "put_with_signal.cu"
}
namespace operation_rand {
#include "rand.cu"
}
namespace operation_wait_for_signal {
#include "wait_for_signal.cu"
}
namespace operation_wait_signal {
#include "wait_signal.cu"
}

extern "C" const void* symm_builtin_entries(void) { return emu::entries; }
