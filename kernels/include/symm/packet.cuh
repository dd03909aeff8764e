// packet.cuh: packets of 16 bytes that carry their own flag.
//
// The protocol. A packet is 12 bytes of data and an epoch, stored and loaded by one access, which
// the memory model does not split. The receiver polls until it sees the expected epoch; the data
// has then arrived too. That takes the latency of one message, without a fence or a barrier.
// Inboxes have two banks, used in turn: a rank sends epoch e+2 only after it has received e+1 from
// all ranks, and each of them sent e+1 after it had consumed e. Epochs count up and are never reset
// while ranks run.
#pragma once
#include "symm/order.cuh"

namespace symm {

// Packet is 12 bytes of data and the flag by which the receiver knows them.
struct alignas(16) Packet { u32 data[3], epoch; };

// store_packet stores a packet by one access. It needs CUDA 12.3 or newer, as does load_packet.
//
// Order: the data and the epoch arrive together. Other accesses are not ordered, and no fence is
// needed.
//
// Waits: for nothing.
//
// Cost: an all-reduce of 4096 bytes by packets takes 2.67 us on 4 H200s, and 2.59 on 2, in a
// captured graph (docs/benchmarks.md, All-reduce).
//
// On the cpu device: a packet is stored as two words of 8 bytes, the one with the epoch last, and
// loaded in the opposite order.
//
// Example:
//
//   symm::Packet* const inbox = h.buffer<symm::Packet>(peer);
//   symm::store_packet(inbox + h.rank, symm::Packet{{1, 2, 3}, channel + 1});
__device__ __forceinline__ void store_packet(Packet* to, const Packet& p) {
#ifdef SYMM_CPU
  symm_cpu_scope(2);
  __atomic_store_n((u64*)to, p.data[0] | (u64)p.data[1] << 32, __ATOMIC_RELAXED);
  symm_cpu_scope(2);
  __atomic_store_n((u64*)to + 1, p.data[2] | (u64)p.epoch << 32, __ATOMIC_RELEASE);
#else
  asm volatile(
      "{ .reg .b128 q; .reg .b64 a, b; mov.b64 a, {%1,%2}; mov.b64 b, {%3,%4}; mov.b128 q, {a,b};"
      " st.relaxed.sys.global.b128 [%0], q; }" ::"l"(to), "r"(p.data[0]), "r"(p.data[1]), "r"(p.data[2]), "r"(p.epoch) : "memory");
#endif
}

// load_packet reads a packet once. The data is valid if the epoch is the expected one.
//
// Waits: for nothing: a loop around it asks a symm::Patience whether to give up.
//
// Example:
//
//   const symm::Packet* const inbox = h.buffer<symm::Packet>(h.rank);
//   symm::Packet p;
//   symm::Patience patience;
//   while ((p = symm::load_packet(inbox + peer)).epoch != channel + 1)
//     if (patience.expired(h, symm::Wait{symm::kUser, (symm::u32)peer, channel, channel + 1}, p.epoch))
//       return;
//   patience.satisfied(h);
//   x[0] = (float)p.data[0];
__device__ __forceinline__ Packet load_packet(const Packet* from) {
  Packet p;
#ifdef SYMM_CPU
  symm_cpu_scope(2);
  const u64 b = __atomic_load_n((const u64*)from + 1, __ATOMIC_ACQUIRE);
  symm_cpu_scope(2);
  const u64 a = __atomic_load_n((const u64*)from, __ATOMIC_RELAXED);
  p.data[0] = (u32)a, p.data[1] = (u32)(a >> 32), p.data[2] = (u32)b, p.epoch = (u32)(b >> 32);
#else
  asm volatile(
      "{ .reg .b128 q; .reg .b64 a, b; ld.relaxed.sys.global.b128 q, [%4]; mov.b128 {a,b}, q;"
      " mov.b64 {%0,%1}, a; mov.b64 {%2,%3}, b; }" : "=r"(p.data[0]), "=r"(p.data[1]), "=r"(p.data[2]), "=r"(p.epoch) : "l"(from) : "memory");
#endif
  return p;
}

}  // namespace symm
