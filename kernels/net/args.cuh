// args.cuh: the arguments that the kernels for peers on other hosts share.
#pragma once
#include "symm/kernel.cuh"
#include "symm/net.cuh"

namespace symm {

// NetPostArgs are the arguments of net_post and net_copy.
struct NetPostArgs {
  Context context;
  NetPort port;
  NetOp op;
  u64 member;  // of the group: the peer
};
SYMM_LAYOUT(NetPostArgs, context, port, op, member)

// NetSignalArgs are the arguments of net_put_signal, net_wait_signal and net_barrier.
struct NetSignalArgs {
  Context context;
  NetGroup group;
  u32 peer;  // a member; unused by net_barrier
  u32 channel;
};
SYMM_LAYOUT(NetSignalArgs, context, group, peer, channel)

// NetWaitArgs are the arguments of net_wait_for_signal.
struct NetWaitArgs {
  Context context;
  NetGroup group;
  const u64* word;
  u64 value;
  u32 index;     // of the word in its pad, for messages
  u32 at_least;  // 0: ==, 1: >=
};
SYMM_LAYOUT(NetWaitArgs, context, group, word, value, index, at_least)

// alive returns false, and gives up, if the operation's peer is gone.
__device__ inline bool alive(const NetPostArgs& a) {
  const bool gone = a.op.peer != kNetAllPeers && lost(a.port, a.op.peer);
  if (gone) lose(a.context, Wait{kNetFlush, (u32)a.member, 0, 0});
  return !gone;
}

}  // namespace symm
