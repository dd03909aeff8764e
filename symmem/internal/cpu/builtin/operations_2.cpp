// Operations, each in a namespace of its own. Written by go generate.
#include "contract.h"
#include "cuda_on_cpu.h"
#include "layout.h"

#include "headers.h"

namespace operation_pull_reduce {
#include "all_reduce/pull_reduce.cu"
}
namespace operation_all_to_all_vdev {
#include "all_to_all_vdev/all_to_all_vdev.cu"
}
namespace operation_rand {
#include "elements/rand.cu"
}
namespace operation_hosts_rows {
#include "hosts/hosts_rows.cu"
}
namespace operation_multimem_all_gather {
#include "multimem/multimem_all_gather.cu"
}
namespace operation_net_copy {
#include "net/net_copy.cu"
}
namespace operation_net_wait_signal {
#include "net/net_wait_signal.cu"
}
namespace operation_pool_meet {
#include "pool/pool_meet.cu"
}
namespace operation_put_with_signal {
#include "signal/put_with_signal.cu"
}
namespace operation_tile_reduce {
#include "tile_reduce/tile_reduce.cu"
}
namespace operation_token_hosts_dispatch {
#include "tokens/token_hosts_dispatch.cu"
}
namespace operation_token_wait {
#include "tokens/token_wait.cu"
}
