// Operations, each in a namespace of its own. Written by go generate.
#include "contract.h"
#include "cuda_on_cpu.h"
#include "layout.h"

#include "headers.h"

namespace operation_two_shot_chunks {
#include "all_reduce/two_shot_chunks.cu"
}
namespace operation_arange {
#include "elements/arange.cu"
}
namespace operation_hosts_copy {
#include "hosts/hosts_copy.cu"
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
namespace operation_copy_rows {
#include "rows/copy_rows.cu"
}
namespace operation_signal_add {
#include "signal/signal_add.cu"
}
namespace operation_token_combine {
#include "tokens/token_combine.cu"
}
namespace operation_token_hosts_routing {
#include "tokens/token_hosts_routing.cu"
}
