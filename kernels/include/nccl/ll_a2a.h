// nccl/ll_a2a.h: all-to-all of small values, which carry their own flag.
//
// The protocol. In the resource window of every rank a block of a handle has 16 bytes that begin
// with its epoch, and 2 x nSlots lines of 16 bytes, used in turn by even and odd epochs. A line is
// two words of 8 bytes, each with 4 bytes of data and the epoch. Each word is stored and loaded as
// one, so its data is valid if its epoch is the expected one. A session sends epoch e + 2 after it
// has received e + 1 from all ranks, and each of them sent e + 1 after it had consumed e. Therefore
// every epoch has to send to every peer and to receive from every peer.
#pragma once
#include "nccl/pointer.h"

// ncclLLA2ASession is one use of a block of slots by a coop of every rank.
//
// Order: a value that recv returns is complete. Other accesses are not ordered.
//
// Waits: for the sender, in the functions that receive. send and bcast do not wait.
//
// Example:
//
//   ncclLLA2ASession<ncclCoopCta> a2a(ncclCoopCta(), comm, ncclTeamLsa(comm), comm.lsaLLA2A,
//                                     blockIdx.x, comm.lsaSize);
//   if (threadIdx.x == 0) {
//     a2a.bcast(comm.lsaRank, x[0]);
//     for (int r = 0; r < comm.lsaSize; r++) x[r] = a2a.recv<float>(r);
//   }
//   a2a.endEpoch(ncclCoopCta());
template <typename Coop>
struct ncclLLA2ASession {
  Coop coop;
  ncclDevComm const& comm;
  ncclTeam team;
  ncclLLA2AHandle handle;
  int block, pitch;
  unsigned int epoch;
  bool over;  // the session was refused or gave up

  NCCL_DEVICE_INLINE ncclLLA2ASession(Coop coop, ncclDevComm const& comm, ncclTeam team, ncclLLA2AHandle handle, unsigned int block, int maxElts,
                                      bool multimem = false, ncclMultimemHandle mmHandle = {})
      : coop(coop), comm(comm), team(team), handle(handle), block((int)block), pitch(maxElts), epoch(2), over(false) {
    if (block >= handle.nBlocks || (unsigned int)maxElts > handle.nSlots) {
      const bool slots = block < handle.nBlocks;
      refused(slots ? symm::kNcclSlot : symm::kNcclBlock, slots ? (symm::u64)maxElts : block, slots ? handle.nSlots : handle.nBlocks);
      return;
    }
    epoch = *count() + 2;
  }
  ncclLLA2ASession(ncclLLA2ASession const&) = delete;
  NCCL_DEVICE_INLINE ~ncclLLA2ASession() {
    coop.sync();
  }

  // send stores a value in a slot of a peer of the team.
  template <typename T>
  NCCL_DEVICE_INLINE void send(int peer, int slot, T data) {
    if (!fits<T>(slot)) return;
    symm::NcclWords<T> words;
    words.value = data;
    for (int v = 0; v < lines<T>(); v++) {
      symm::u64* const to = line(ncclTeamRankToLsa(comm, team, peer), slot + v * pitch);
      symm::store_relaxed(to, words.w[2 * v] | (symm::u64)epoch << 32);
      symm::store_relaxed(to + 1, (2 * v + 1 < symm::NcclWords<T>::n ? words.w[2 * v + 1] : 0) | (symm::u64)epoch << 32);
    }
  }
  // bcast sends to all ranks of the team, the caller's included.
  template <typename T>
  NCCL_DEVICE_INLINE void bcast(int slot, T data) {
    for (int k = 0; k < team.nRanks; k++) send((team.rank + k) % team.nRanks, slot, data);
  }
  // recv waits for a value in a slot.
  template <typename T>
  NCCL_DEVICE_INLINE T recv(int slot) {
    T got[1];
    recvUnrolled<1, 1>(slot, 1, 0, got);
    return got[0];
  }
  // recvUnrolled waits for eltCount values, at most MaxEltCount, in slots that are eltStride apart.
  template <int MinEltCount, int MaxEltCount, typename T>
  NCCL_DEVICE_INLINE void recvUnrolled(int eltStart, int eltCount, int eltStride, T (&elts)[MaxEltCount]) {
#pragma unroll
    for (int u = 0; u < MaxEltCount; u++) {
      if (u >= MinEltCount && u >= eltCount) break;
      elts[u] = take<T>(eltStart + u * eltStride);
    }
  }
  // recvReduce waits for eltCount values and combines them in the order of their slots:
  // reduce(eltToAcc(first), eltToAcc(second)) and so on.
  template <int Unroll, typename Elt, typename EltToAcc, typename Reduce>
  NCCL_DEVICE_INLINE auto recvReduce(int eltStart, int eltCount, int eltStride, EltToAcc eltToAcc, Reduce reduce) -> decltype(eltToAcc(Elt())) {
    auto acc = eltToAcc(take<Elt>(eltStart));
    for (int i = 1; i < eltCount; i++) acc = reduce(acc, eltToAcc(take<Elt>(eltStart + i * eltStride)));
    return acc;
  }
  // endEpoch ends a round, in which the coop has sent to every peer and received from every peer.
  NCCL_DEVICE_INLINE void endEpoch(Coop) {
    coop.sync();
    // the next epoch of this parity begins again at 2 or 3, below the epochs in the lines
    if (epoch >= ~1u && !over) {
      for (unsigned int i = coop.thread_rank(); i < 2 * handle.nSlots; i += coop.size()) symm::store_relaxed(line(comm.lsaRank, 0) + i, 0);
      coop.sync();
    }
    epoch += epoch == ~0u ? 3 : 1;
    if (!over && coop.thread_rank() == 0) *count() = epoch - 2;
  }

 private:
  template <typename T> NCCL_DEVICE_INLINE static constexpr int lines() { return (symm::NcclWords<T>::n + 1) / 2; }
  NCCL_DEVICE_INLINE symm::u64* begin(int lsa) const {
    return (symm::u64*)(comm.resourceWindow->lsa[lsa] + ncclGetResourceBufferOffset(handle.bufHandle)) + 2 * (size_t)block * (1 + 2 * handle.nSlots);
  }
  NCCL_DEVICE_INLINE unsigned int* count() const { return (unsigned int*)begin(comm.lsaRank); }
  NCCL_DEVICE_INLINE symm::u64* line(int lsa, int at) const { return begin(lsa) + 2 * (1 + (epoch & 1) * (size_t)handle.nSlots + at); }

  NCCL_DEVICE_INLINE void refused(symm::u32 what, symm::u64 value, symm::u64 limit) {
    symm::nccl_refuse(comm.context.watch, comm.rank, what, comm.context.ordinal, comm.rank, value, limit);
    over = true;
  }
  // fits refuses a slot that does not exist.
  template <typename T>
  NCCL_DEVICE_INLINE bool fits(int slot) {
    const long long last = slot + (long long)(lines<T>() - 1) * pitch;
    if (!over && (slot < 0 || last >= (long long)handle.nSlots)) refused(symm::kNcclSlot, (symm::u64)(slot < 0 ? slot : last), handle.nSlots);
    return !over;
  }
  template <typename T>
  NCCL_DEVICE_INLINE T take(int slot) {
    symm::NcclWords<T> words;
    if (!fits<T>(slot)) return T();
    symm::Patience patience;
    for (int v = 0; v < lines<T>(); v++) {
      const symm::u64* const from = line(comm.lsaRank, slot + v * pitch);
      symm::u64 a, b;
      while ((symm::u32)((a = symm::load_relaxed(from)) >> 32) != epoch || (symm::u32)((b = symm::load_relaxed(from + 1)) >> 32) != epoch)
        if (over || patience.expired(comm.context, symm::Wait{symm::kLowLatency, (symm::u32)comm.rank, (symm::u32)slot, epoch}, (symm::u32)(a >> 32))) {
          over = true;
          return T();
        }
      words.w[2 * v] = (symm::u32)a;
      if (2 * v + 1 < symm::NcclWords<T>::n) words.w[2 * v + 1] = (symm::u32)b;
    }
    patience.satisfied(comm.context);
    return words.value;
  }
};
