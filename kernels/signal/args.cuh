// args.cuh: the arguments that put_signal and wait_signal share.
#pragma once
#include "symm.cuh"

namespace symm {

struct SignalArgs {
  Context context;
  Signals signals;
  u32 peer, channel;
};
SYMM_LAYOUT(SignalArgs, context, signals, peer, channel)

}  // namespace symm
