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
namespace operation_multimem_reduce {
#include "multimem/multimem_reduce.cu"
}
namespace operation_net_post {
#include "net/net_post.cu"
}
namespace operation_permute {
#include "permute/permute.cu"
}
namespace operation_put_signal {
#include "signal/put_signal.cu"
}
namespace operation_wait_signal {
#include "signal/wait_signal.cu"
}
namespace operation_token_hosts_combine {
#include "tokens/token_hosts_combine.cu"
}
namespace operation_token_routing {
#include "tokens/token_routing.cu"
}
