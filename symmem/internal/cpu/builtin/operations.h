// operations.h: every operation, in a namespace of its own. Written by go generate.
#include "symm.cuh"
#include "symm/barrier.cuh"
#include "symm/bounds.cuh"
#include "symm/context.cuh"
#include "symm/float16.cuh"
#include "symm/half.cuh"
#include "symm/handle.cuh"
#include "symm/kernel.cuh"
#include "symm/line.cuh"
#include "symm/multimem.cuh"
#include "symm/net.cuh"
#include "symm/order.cuh"
#include "symm/packet.cuh"
#include "symm/remote.cuh"
#include "symm/signal.cuh"
#include "symm/team.cuh"
#include "symm/types.cuh"
#include "symm/wait.cuh"
#include "nccl.h"
#include "nccl_device.h"
#include "nccl/barrier.h"
#include "nccl/coop.h"
#include "nccl/gin.h"
#include "nccl/ll_a2a.h"
#include "nccl/lsa_barrier.h"
#include "nccl/missing.h"
#include "nccl/multimem.h"
#include "nccl/pointer.h"
#include "nccl/reduce_copy.h"
#include "nccl/types.h"
#include "cuda/atomic"
#include "all_reduce/lines.cuh"
#include "all_to_all_vdev/rows.cuh"
#include "hosts/pipes.cuh"
#include "net/args.cuh"
#include "packets/packets.cuh"
#include "reduce/reduce.cuh"
#include "signal/args.cuh"
#include "tokens/collect.cuh"
#include "tokens/fp8.cuh"
#include "tokens/hosts.cuh"
#include "tokens/push.cuh"
#include "tokens/routing.cuh"
#include "tokens/sums.cuh"
#include "tokens/tokens.cuh"
namespace operation_one_shot_all_reduce {
#include "all_reduce/one_shot_all_reduce.cu"
}
namespace operation_pull_reduce {
#include "all_reduce/pull_reduce.cu"
}
namespace operation_two_shot_all_reduce {
#include "all_reduce/two_shot_all_reduce.cu"
}
namespace operation_two_shot_chunks {
#include "all_reduce/two_shot_chunks.cu"
}
namespace operation_two_shot_lines {
#include "all_reduce/two_shot_lines.cu"
}
namespace operation_all_to_all_vdev {
#include "all_to_all_vdev/all_to_all_vdev.cu"
}
namespace operation_arange {
#include "elements/arange.cu"
}
namespace operation_fill {
#include "elements/fill.cu"
}
namespace operation_rand {
#include "elements/rand.cu"
}
namespace operation_exchange {
#include "exchange/exchange.cu"
}
namespace operation_hosts_copy {
#include "hosts/hosts_copy.cu"
}
namespace operation_hosts_reduce {
#include "hosts/hosts_reduce.cu"
}
namespace operation_hosts_rows {
#include "hosts/hosts_rows.cu"
}
namespace operation_matmul {
#include "matmul/matmul.cu"
}
namespace operation_multimem_all_gather {
#include "multimem/multimem_all_gather.cu"
}
namespace operation_multimem_reduce {
#include "multimem/multimem_reduce.cu"
}
namespace operation_net_barrier {
#include "net/net_barrier.cu"
}
namespace operation_net_copy {
#include "net/net_copy.cu"
}
namespace operation_net_post {
#include "net/net_post.cu"
}
namespace operation_net_put_signal {
#include "net/net_put_signal.cu"
}
namespace operation_net_wait_for_signal {
#include "net/net_wait_for_signal.cu"
}
namespace operation_net_wait_signal {
#include "net/net_wait_signal.cu"
}
namespace operation_permute {
#include "permute/permute.cu"
}
namespace operation_pool_meet {
#include "pool/pool_meet.cu"
}
namespace operation_copy_rows {
#include "rows/copy_rows.cu"
}
namespace operation_barrier {
#include "signal/barrier.cu"
}
namespace operation_put_signal {
#include "signal/put_signal.cu"
}
namespace operation_put_with_signal {
#include "signal/put_with_signal.cu"
}
namespace operation_signal_add {
#include "signal/signal_add.cu"
}
namespace operation_wait_for_signal {
#include "signal/wait_for_signal.cu"
}
namespace operation_wait_signal {
#include "signal/wait_signal.cu"
}
namespace operation_tile_reduce {
#include "tile_reduce/tile_reduce.cu"
}
namespace operation_token_combine {
#include "tokens/token_combine.cu"
}
namespace operation_token_dispatch {
#include "tokens/token_dispatch.cu"
}
namespace operation_token_hosts_combine {
#include "tokens/token_hosts_combine.cu"
}
namespace operation_token_hosts_dispatch {
#include "tokens/token_hosts_dispatch.cu"
}
namespace operation_token_hosts_routing {
#include "tokens/token_hosts_routing.cu"
}
namespace operation_token_hosts_wait {
#include "tokens/token_hosts_wait.cu"
}
namespace operation_token_routing {
#include "tokens/token_routing.cu"
}
namespace operation_token_wait {
#include "tokens/token_wait.cu"
}
