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
namespace operation_hosts_tiles {
#include "hosts/hosts_tiles.cu"
}
namespace operation_multimem_reduce {
#include "multimem/multimem_reduce.cu"
}
namespace operation_net_post {
#include "net/net_post.cu"
}
namespace operation_exchange_packets {
#include "packets/exchange_packets.cu"
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
