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
namespace operation_matmul {
#include "matmul/matmul.cu"
}
namespace operation_net_atomic {
#include "net/net_atomic.cu"
}
namespace operation_net_put_signal {
#include "net/net_put_signal.cu"
}
namespace operation_reduce_packets {
#include "packets/reduce_packets.cu"
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
