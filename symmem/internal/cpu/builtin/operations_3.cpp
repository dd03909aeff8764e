// Operations, each in a namespace of its own. Written by go generate.
#include "contract.h"
#include "cuda_on_cpu.h"
#include "layout.h"

#include "headers.h"

namespace operation_two_shot_all_reduce {
#include "all_reduce/two_shot_all_reduce.cu"
}
namespace operation_delay {
#include "delay/delay.cu"
}
namespace operation_exchange {
#include "exchange/exchange.cu"
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
