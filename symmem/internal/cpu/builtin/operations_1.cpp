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
namespace operation_rand {
#include "elements/rand.cu"
}
namespace operation_hosts_rows {
#include "hosts/hosts_rows.cu"
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
