// All operations in one translation unit. Each has a namespace of its own, for its helpers' sake; the kernels are extern "C".
#include "cuda_on_cpu.h"
#include "symm.cuh"
#include "reduce.cuh"
#include "packets.cuh"
#include "lines.cuh"
#include "multimem.cuh"

namespace operation_all_to_all_vdev {
#include "all_to_all_vdev.cu"
}
namespace operation_arange {
#include "arange.cu"
}
namespace operation_barrier {
#include "barrier.cu"
}
namespace operation_copy_rows {
#include "copy_rows.cu"
}
namespace operation_exchange {
#include "exchange.cu"
}
namespace operation_fill {
#include "fill.cu"
}
namespace operation_multimem_all_gather {
#include "multimem_all_gather.cu"
}
namespace operation_multimem_reduce {
#include "multimem_reduce.cu"
}
namespace operation_matmul {
#include "matmul.cu"
}
namespace operation_one_shot_all_reduce {
#include "one_shot_all_reduce.cu"
}
namespace operation_permute {
#include "permute.cu"
}
namespace operation_pool_meet {
#include "pool_meet.cu"
}
namespace operation_pull_reduce {
#include "pull_reduce.cu"
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
namespace operation_tile_reduce {
#include "tile_reduce.cu"
}
namespace operation_two_shot_all_reduce {
#include "two_shot_all_reduce.cu"
}
namespace operation_two_shot_chunks {
#include "two_shot_chunks.cu"
}
namespace operation_two_shot_lines {
#include "two_shot_lines.cu"
}
namespace operation_wait_for_signal {
#include "wait_for_signal.cu"
}
namespace operation_wait_signal {
#include "wait_signal.cu"
}

extern "C" const void* symm_builtin_entries(void) { return emu::entries; }
