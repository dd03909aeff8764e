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
namespace operation_multimem_all_gather {
#include "multimem/multimem_all_gather.cu"
}
namespace operation_net_copy {
#include "net/net_copy.cu"
}
namespace operation_net_wait_signal {
#include "net/net_wait_signal.cu"
}
namespace operation_barrier {
#include "signal/barrier.cu"
}
namespace operation_wait_for_signal {
#include "signal/wait_for_signal.cu"
}
namespace operation_token_dispatch {
#include "tokens/token_dispatch.cu"
}
namespace operation_token_hosts_wait {
#include "tokens/token_hosts_wait.cu"
}
