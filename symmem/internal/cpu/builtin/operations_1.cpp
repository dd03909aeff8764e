// Operations, each in a namespace of its own. Written by go generate.
#include "contract.h"
#include "cuda_on_cpu.h"
#include "layout.h"

#include "headers.h"

namespace operation_one_shot_all_reduce {
#include "all_reduce/one_shot_all_reduce.cu"
}
namespace operation_two_shot_lines {
#include "all_reduce/two_shot_lines.cu"
}
namespace operation_fill {
#include "elements/fill.cu"
}
namespace operation_hosts_reduce {
#include "hosts/hosts_reduce.cu"
}
namespace operation_matmul_f8e4m3 {
#include "matmul/matmul_f8e4m3.cu"
}
namespace operation_net_barrier {
#include "net/net_barrier.cu"
}
namespace operation_net_wait_for_signal {
#include "net/net_wait_for_signal.cu"
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
