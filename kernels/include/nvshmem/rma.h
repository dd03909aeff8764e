// nvshmem/rma.h: puts, gets and signals.
//
// Functions whose name ends in _nbi may return before the operation is complete. Functions with
// _block and _warp in their name are called by all threads of a block or a warp, with the same
// arguments; the others by one thread. Beside the functions for memory, put and get have a function
// for each type, such as nvshmem_float_put, and for elements of 8 to 128 bits, such as
// nvshmem_put32.
#pragma once
#include "nvshmem/world.h"

// The operations of signals.
enum { NVSHMEM_SIGNAL_SET = 9, NVSHMEM_SIGNAL_ADD = 10 };

namespace symm {

// ShmemBits is the word of a size, and shmem_bits and shmem_value convert between a value and its
// word.
template <int size> struct ShmemBits;
template <> struct ShmemBits<4> { typedef u32 type; };
template <> struct ShmemBits<8> { typedef u64 type; };

template <class T> __device__ __forceinline__ typename ShmemBits<sizeof(T)>::type shmem_bits(T value) {
  union { T value; typename ShmemBits<sizeof(T)>::type bits; } u;
  u.value = value;
  return u.bits;
}
template <class T> __device__ __forceinline__ T shmem_value(u64 bits) {
  union { T value; typename ShmemBits<sizeof(T)>::type bits; } u;
  u.bits = (typename ShmemBits<sizeof(T)>::type)bits;
  return u.value;
}

// shmem_copy: the threads of a team copy n bytes, by the largest words that both addresses allow.
template <class Team, class Word> __device__ __forceinline__ u64 shmem_copy_words(char* dst, const char* src, u64 n) {
  for (u64 i = Team::rank(); i < n / sizeof(Word); i += Team::size()) ((Word*)dst)[i] = ((const Word*)src)[i];
  return n / sizeof(Word) * sizeof(Word);
}
template <class Team> __device__ __forceinline__ void shmem_copy(void* to, const void* from, u64 n) {
  char* const dst = (char*)to;
  const char* const src = (const char*)from;
  const u64 low = (u64)dst | (u64)src;
  u64 done = 0;
  if (low % 16 == 0) done = shmem_copy_words<Team, u128>(dst, src, n);
  else if (low % 8 == 0) done = shmem_copy_words<Team, u64>(dst, src, n);
  else if (low % 4 == 0) done = shmem_copy_words<Team, u32>(dst, src, n);
  for (u64 i = done + Team::rank(); i < n; i += Team::size()) dst[i] = src[i];
}

// shmem_post: one thread posts an operation for a PE on another host. If it waits, it returns when
// the operation is complete on this side.
__device__ SYMM_APART void shmem_post(ShmemSite s, int pe, NetOp op, bool waits) {
  const NetGroup& g = *s.w->net;
  const Context c = s.context();
  if (useless(g, c, (u32)pe)) leave();
  op.peer = g.members[pe].rank;
  NetTicket ticket;
  bool whole = true;
  if (!post(g.port, c, (u32)pe, op, waits ? &ticket : nullptr)) leave();
  if (!waits) return;
  if (!landed(g.port, c, (u32)pe, ticket, kNetCounter, &whole)) leave();
  if (!whole) {
    lose(c, Wait{kNetFlush, (u32)pe, 0, ticket.number});
    leave();
  }
}

// shmem_reachable refuses memory of this rank that the network's engine cannot reach.
__device__ __forceinline__ void shmem_reachable(ShmemSite s, const void* p, int pe) {
#ifndef SYMM_CPU
  if (!__isGlobal(p)) shmem_refuse(s, kShmemSource, pe, (u64)p, 0);
#endif
}

// ShmemSignal is a word and how it changes.
struct ShmemSignal {
  uint64_t* word;
  u64 value;
  int operation;  // NVSHMEM_SIGNAL_SET, NVSHMEM_SIGNAL_ADD, or 0 for no signal
};

__device__ __forceinline__ void shmem_raise(const ShmemPlace& at, const ShmemSignal& signal) {
  if (signal.operation == NVSHMEM_SIGNAL_SET) store_relaxed((u64*)at.near, signal.value);
  else atomicAdd_system((u64*)at.near, signal.value);
}

__device__ __forceinline__ ShmemPlace shmem_signal_place(ShmemSite s, const ShmemSignal& signal, int pe) {
  if (signal.operation != NVSHMEM_SIGNAL_SET && signal.operation != NVSHMEM_SIGNAL_ADD) shmem_refuse(s, kShmemOperation, pe, (u64)(i64)signal.operation, 0);
  return shmem_place(s, signal.word, 8, 8, pe);
}

// shmem_put is every put: of n bytes, with or without a signal.
template <class Team> __device__ __forceinline__ void shmem_put(ShmemSite s, void* dest, const void* source, u64 n, u64 align, int pe, bool waits, ShmemSignal signal = {}) {
  ShmemPlace to = {}, at = {};
  shmem_has_pe(s, pe);
  if (signal.operation || signal.word) at = shmem_signal_place(s, signal, pe);
  if (n) to = shmem_place(s, dest, n, align, pe);
  Team::sync();
  if (to.near || at.near) {
    shmem_copy<Team>(to.near, source, n);
    Team::sync();
    if (at.near && Team::rank() == 0) {
      fence();
      shmem_raise(at, signal);
    }
  } else if ((n || signal.operation) && Team::rank() == 0) {
    if (n) shmem_reachable(s, source, pe);
    NetOp op = {};
    op.kind = kNetPut;
    op.window = to.window;
    op.local = (u64)source;
    op.offset = to.offset;
    op.bytes = n;
    if (signal.operation) {
      op.signal = signal.operation == NVSHMEM_SIGNAL_SET ? kNetSetWord : kNetAddWord;
      op.signal_window = at.window;
      op.signal_at = at.offset;
      op.value = signal.value;
    }
    shmem_post(s, pe, op, waits && n);
  }
  Team::sync();
}

template <class Team> __device__ __forceinline__ void shmem_get(ShmemSite s, void* dest, const void* source, u64 n, u64 align, int pe, bool waits) {
  shmem_has_pe(s, pe);
  if (n == 0) return;
  const ShmemPlace from = shmem_place(s, source, n, align, pe);
  Team::sync();
  if (from.near) {
    shmem_copy<Team>(dest, from.near, n);
  } else if (Team::rank() == 0) {
    shmem_reachable(s, dest, pe);
    NetOp op = {};
    op.kind = kNetGet;
    op.window = from.window;
    op.local = (u64)dest;
    op.offset = from.offset;
    op.bytes = n;
    shmem_post(s, pe, op, waits);
  }
  Team::sync();
}

// shmem_store stores a value. A wait of the peer may poll a word of 4 or 8 bytes, so that it is an
// atomic store.
template <int size> struct ShmemStore {
  template <class T> __device__ static __forceinline__ void to(T* p, T value) { *p = value; }
};
template <> struct ShmemStore<4> {
  template <class T> __device__ static __forceinline__ void to(T* p, T value) { store_relaxed((u32*)p, shmem_bits(value)); }
};
template <> struct ShmemStore<8> {
  template <class T> __device__ static __forceinline__ void to(T* p, T value) { store_relaxed((u64*)p, shmem_bits(value)); }
};
template <class T> __device__ __forceinline__ void shmem_store(T* p, T value) { ShmemStore<sizeof(T)>::to(p, value); }

template <class T> __device__ __forceinline__ void shmem_p(ShmemSite s, T* dest, T value, int pe) {
  const ShmemPlace to = shmem_place(s, dest, sizeof(T), sizeof(T), pe);
  if (to.near) {
    shmem_store((T*)to.near, value);
    return;
  }
  NetOp op = {};
  op.kind = sizeof(T) < 4 ? kNetValue : kNetAtomic;  // the peer may poll a word of 4 or 8 bytes
  op.window = to.window;
  op.offset = to.offset;
  op.bytes = sizeof(T);
  u64 bits = 0;
  for (u32 i = 0; i < sizeof(T); i++) ((char*)&bits)[i] = ((const char*)&value)[i];
  if (sizeof(T) < 4) op.data = bits;
  else op.signal = kShmemSet, op.value = bits;
  shmem_post(s, pe, op, false);
}

// shmem_fetch: one thread gets the result of an operation that returns at most 8 bytes from another
// host.
__device__ SYMM_APART u64 shmem_fetch(ShmemSite s, int pe, NetOp op) {
  const Context c = s.context();
  u32 at = (blockIdx.x * 31 + Block::rank()) % kShmemFetches;
  Patience patience;
  while (atomicCAS(&s.w->claimed[at], 0u, 1u) != 0) {
    at = (at + 1) % kShmemFetches;
    if (patience.expired(c, Wait{kNetFlush, (u32)pe, 0, 0}, 0)) leave();
  }
  patience.satisfied(c);
  fence();
  op.local = (u64)&s.w->fetched[at];
  shmem_post(s, pe, op, true);
  const u64 value = load_relaxed(&s.w->fetched[at]);
  store_release(&s.w->claimed[at], 0);
  return value;
}

template <class T> __device__ __forceinline__ T shmem_g(ShmemSite s, const T* source, int pe) {
  const ShmemPlace from = shmem_place(s, source, sizeof(T), sizeof(T), pe);
  if (from.near) return *(const volatile T*)from.near;
  NetOp op = {};
  op.kind = kNetGet;
  op.window = from.window;
  op.offset = from.offset;
  op.bytes = sizeof(T);
  const u64 bits = shmem_fetch(s, pe, op);
  T value;
  for (u32 i = 0; i < sizeof(T); i++) ((char*)&value)[i] = ((const char*)&bits)[i];
  return value;
}

// shmem_span returns the elements from the first to the last of n that are stride apart.
__device__ __forceinline__ u64 shmem_span(ShmemSite s, i64 stride, u64 n, int pe) {
  if (stride < 1) shmem_refuse(s, kShmemStride, pe, (u64)stride, 0);
  return n == 0 ? 0 : (n - 1) * (u64)stride + 1;
}

// shmem_strided puts or gets n elements that are `there` apart in the symmetric memory and `here`
// apart in this rank's own.
template <bool puts, class Team, class T> __device__ __forceinline__ void shmem_strided(ShmemSite s, const T* symmetric, T* own, i64 there, i64 here, u64 n, int pe) {
  shmem_has_pe(s, pe);
  shmem_span(s, here, n, pe);
  const u64 span = shmem_span(s, there, n, pe);
  if (n == 0) return;
  const ShmemPlace at = shmem_place(s, symmetric, span * sizeof(T), sizeof(T), pe);
  Team::sync();
  if (at.near) {
    T* const far = (T*)at.near;
    for (u64 i = Team::rank(); i < n; i += Team::size()) {
      if (puts) far[i * (u64)there] = own[i * (u64)here];
      else own[i * (u64)here] = far[i * (u64)there];
    }
  } else if (Team::rank() == 0) {
    shmem_reachable(s, own, pe);
    NetOp op = {};
    op.kind = puts ? kNetPut : kNetGet;
    op.window = at.window;
    op.local = (u64)own;
    op.offset = at.offset;
    op.bytes = n * sizeof(T);
    op.width = sizeof(T);
    op.local_pitch = (u64)here * sizeof(T);
    op.remote_pitch = (u64)there * sizeof(T);
    shmem_post(s, pe, op, true);
  }
  Team::sync();
}

}  // namespace symm

// SYMM_SHMEM_TYPES(M) applies M(name, type) to the types of puts and gets.
#define SYMM_SHMEM_TYPES(M)                                                                                                              \
  M(float, float) M(double, double) M(char, char) M(schar, signed char) M(uchar, unsigned char) M(short, short) M(ushort, unsigned short) \
  M(int, int) M(uint, unsigned int) M(long, long) M(ulong, unsigned long) M(longlong, long long) M(ulonglong, unsigned long long)         \
  M(int8, int8_t) M(uint8, uint8_t) M(int16, int16_t) M(uint16, uint16_t) M(int32, int32_t) M(uint32, uint32_t) M(int64, int64_t)         \
  M(uint64, uint64_t) M(size, size_t) M(ptrdiff, long)
#define SYMM_SHMEM_SIZES(M) M(8, symm::u8) M(16, symm::u16) M(32, symm::u32) M(64, symm::u64) M(128, symm::u128)

// nvshmem_putmem copies bytes from source, memory of this PE, to dest, symmetric memory, of PE pe.
// It returns when source may be overwritten; nvshmem_putmem_nbi may return before.
//
// Order: none. The bytes are at the PE after nvshmem_quiet or nvshmem_barrier_all. With an
// nvshmem_fence between, they are there before later puts, signals and atomic operations.
//
// Waits: for nothing on this host; between hosts for the engine of this rank.
//
// Example:
//
//   nvshmemx_putmem_block(data, x, 4 * n, peer);
//   if (threadIdx.x == 0) nvshmem_quiet();
//   __syncthreads();
SYMM_SHMEM void nvshmem_putmem(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Thread>(symm::ShmemSite(symm::kShmemPut, line), dest, source, bytes, 1, pe, true);
}
SYMM_SHMEM void nvshmem_putmem_nbi(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Thread>(symm::ShmemSite(symm::kShmemPut, line), dest, source, bytes, 1, pe, false);
}
SYMM_SHMEM void nvshmemx_putmem_warp(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Warp>(symm::ShmemSite(symm::kShmemPut, line), dest, source, bytes, 1, pe, true);
}
SYMM_SHMEM void nvshmemx_putmem_nbi_warp(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Warp>(symm::ShmemSite(symm::kShmemPut, line), dest, source, bytes, 1, pe, false);
}
SYMM_SHMEM void nvshmemx_putmem_block(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Block>(symm::ShmemSite(symm::kShmemPut, line), dest, source, bytes, 1, pe, true);
}
SYMM_SHMEM void nvshmemx_putmem_nbi_block(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Block>(symm::ShmemSite(symm::kShmemPut, line), dest, source, bytes, 1, pe, false);
}

// nvshmem_getmem copies bytes from source, symmetric memory, of PE pe to dest, memory of this PE.
// It returns when they have arrived; after nvshmem_getmem_nbi they have arrived after
// nvshmem_quiet.
//
// Order: none. A get may overtake an earlier put to the same PE.
//
// Waits: for nothing on this host; between hosts for the engines of both ranks.
//
// Example:
//
//   nvshmemx_getmem_block(x, data, 4 * n, peer);
SYMM_SHMEM void nvshmem_getmem(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_get<symm::Thread>(symm::ShmemSite(symm::kShmemGet, line), dest, source, bytes, 1, pe, true);
}
SYMM_SHMEM void nvshmem_getmem_nbi(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_get<symm::Thread>(symm::ShmemSite(symm::kShmemGet, line), dest, source, bytes, 1, pe, false);
}
SYMM_SHMEM void nvshmemx_getmem_warp(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_get<symm::Warp>(symm::ShmemSite(symm::kShmemGet, line), dest, source, bytes, 1, pe, true);
}
SYMM_SHMEM void nvshmemx_getmem_nbi_warp(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_get<symm::Warp>(symm::ShmemSite(symm::kShmemGet, line), dest, source, bytes, 1, pe, false);
}
SYMM_SHMEM void nvshmemx_getmem_block(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_get<symm::Block>(symm::ShmemSite(symm::kShmemGet, line), dest, source, bytes, 1, pe, true);
}
SYMM_SHMEM void nvshmemx_getmem_nbi_block(void* dest, const void* source, size_t bytes, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_get<symm::Block>(symm::ShmemSite(symm::kShmemGet, line), dest, source, bytes, 1, pe, false);
}

// nvshmem_putmem_signal copies bytes as nvshmem_putmem does, and then changes the 64-bit word
// sig_addr of PE pe: sig_op NVSHMEM_SIGNAL_SET stores signal, NVSHMEM_SIGNAL_ADD adds it.
//
// Order: a thread that sees the signal by nvshmem_signal_wait_until sees the bytes of this put.
// Earlier puts need an nvshmem_fence before it.
//
// Waits: as nvshmem_putmem does.
//
// Example:
//
//   nvshmemx_putmem_signal_block(data, x, 4 * n, sig, 1, NVSHMEM_SIGNAL_SET, peer);
//   if (threadIdx.x == 0) nvshmem_signal_wait_until(sig, NVSHMEM_CMP_EQ, 1);
//   __syncthreads();
SYMM_SHMEM void nvshmem_putmem_signal(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Thread>(symm::ShmemSite(symm::kShmemPutSignal, line), dest, source, bytes, 1, pe, true, {sig_addr, signal, sig_op});
}
SYMM_SHMEM void nvshmem_putmem_signal_nbi(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Thread>(symm::ShmemSite(symm::kShmemPutSignal, line), dest, source, bytes, 1, pe, false, {sig_addr, signal, sig_op});
}
SYMM_SHMEM void nvshmemx_putmem_signal_warp(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Warp>(symm::ShmemSite(symm::kShmemPutSignal, line), dest, source, bytes, 1, pe, true, {sig_addr, signal, sig_op});
}
SYMM_SHMEM void nvshmemx_putmem_signal_nbi_warp(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Warp>(symm::ShmemSite(symm::kShmemPutSignal, line), dest, source, bytes, 1, pe, false, {sig_addr, signal, sig_op});
}
SYMM_SHMEM void nvshmemx_putmem_signal_block(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Block>(symm::ShmemSite(symm::kShmemPutSignal, line), dest, source, bytes, 1, pe, true, {sig_addr, signal, sig_op});
}
SYMM_SHMEM void nvshmemx_putmem_signal_nbi_block(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) {
  symm::shmem_put<symm::Block>(symm::ShmemSite(symm::kShmemPutSignal, line), dest, source, bytes, 1, pe, false, {sig_addr, signal, sig_op});
}

// nvshmemx_signal_op changes the 64-bit word sig_addr of PE pe, without data.
//
// Order: none. An nvshmem_fence before it makes it follow the earlier puts to pe.
//
// Waits: for nothing on this host; between hosts for a place in the ring.
//
// Example:
//
//   if (threadIdx.x == 0) nvshmemx_signal_op(sig, 1, NVSHMEM_SIGNAL_ADD, peer);
SYMM_SHMEM void nvshmemx_signal_op(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) {
  const symm::ShmemSite s(symm::kShmemSignalOp, line);
  const symm::ShmemSignal change = {sig_addr, signal, sig_op};
  const symm::ShmemPlace at = symm::shmem_signal_place(s, change, pe);
  if (at.near) symm::shmem_raise(at, change);
  else symm::shmem_put<symm::Thread>(s, nullptr, nullptr, 0, 1, pe, false, change);
}

// nvshmem_TYPE_p puts one element to PE pe, and nvshmem_TYPE_g returns one element of PE pe.
//
// Order: none, as for nvshmem_putmem and nvshmem_getmem.
//
// Waits: p for nothing on this host, and between hosts for a place in the ring; g between hosts for
// the engines of both ranks.
//
// Example:
//
//   nvshmem_float_p(data + threadIdx.x, x[threadIdx.x], peer);
//   x[0] = nvshmem_float_g(data, peer);
#define SYMM_SHMEM_P(NAME, TYPE)                                                                            \
  SYMM_SHMEM void nvshmem_##NAME##_p(TYPE* dest, const TYPE value, int pe, SYMM_SHMEM_LINE) {               \
    symm::shmem_p<TYPE>(symm::ShmemSite(symm::kShmemP, line), dest, value, pe);                             \
  }                                                                                                         \
  SYMM_SHMEM TYPE nvshmem_##NAME##_g(const TYPE* source, int pe, SYMM_SHMEM_LINE) {                         \
    return symm::shmem_g<TYPE>(symm::ShmemSite(symm::kShmemG, line), source, pe);                           \
  }
SYMM_SHMEM_TYPES(SYMM_SHMEM_P)
#undef SYMM_SHMEM_P

// nvshmem_TYPE_put, nvshmem_TYPE_get and nvshmem_TYPE_put_signal are nvshmem_putmem, nvshmem_getmem
// and nvshmem_putmem_signal for nelems elements of a type; nvshmem_putSIZE and nvshmem_getSIZE are
// for elements of SIZE bits.
//
// Order: as of nvshmem_putmem, nvshmem_getmem and nvshmem_putmem_signal.
//
// Waits: as they do.
//
// Example:
//
//   nvshmemx_float_put_block(data, x, n, peer);
#define SYMM_SHMEM_PUT(PREFIX, SUFFIX, TEAM, NAME, TYPE)                                                                                  \
  SYMM_SHMEM void PREFIX##put##NAME##SUFFIX(TYPE* dest, const TYPE* source, size_t nelems, int pe, SYMM_SHMEM_LINE) {                     \
    symm::shmem_put<symm::TEAM>(symm::ShmemSite(symm::kShmemPut, line), dest, source, nelems * sizeof(TYPE), alignof(TYPE), pe, true);    \
  }                                                                                                                                       \
  SYMM_SHMEM void PREFIX##put##NAME##_nbi##SUFFIX(TYPE* dest, const TYPE* source, size_t nelems, int pe, SYMM_SHMEM_LINE) {               \
    symm::shmem_put<symm::TEAM>(symm::ShmemSite(symm::kShmemPut, line), dest, source, nelems * sizeof(TYPE), alignof(TYPE), pe, false);   \
  }                                                                                                                                       \
  SYMM_SHMEM void PREFIX##get##NAME##SUFFIX(TYPE* dest, const TYPE* source, size_t nelems, int pe, SYMM_SHMEM_LINE) {                     \
    symm::shmem_get<symm::TEAM>(symm::ShmemSite(symm::kShmemGet, line), dest, source, nelems * sizeof(TYPE), alignof(TYPE), pe, true);    \
  }                                                                                                                                       \
  SYMM_SHMEM void PREFIX##get##NAME##_nbi##SUFFIX(TYPE* dest, const TYPE* source, size_t nelems, int pe, SYMM_SHMEM_LINE) {               \
    symm::shmem_get<symm::TEAM>(symm::ShmemSite(symm::kShmemGet, line), dest, source, nelems * sizeof(TYPE), alignof(TYPE), pe, false);   \
  }                                                                                                                                       \
  SYMM_SHMEM void PREFIX##put##NAME##_signal##SUFFIX(TYPE* dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) { \
    symm::shmem_put<symm::TEAM>(symm::ShmemSite(symm::kShmemPutSignal, line), dest, source, nelems * sizeof(TYPE), alignof(TYPE), pe, true, {sig_addr, signal, sig_op});       \
  }                                                                                                                                       \
  SYMM_SHMEM void PREFIX##put##NAME##_signal_nbi##SUFFIX(TYPE* dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, SYMM_SHMEM_LINE) { \
    symm::shmem_put<symm::TEAM>(symm::ShmemSite(symm::kShmemPutSignal, line), dest, source, nelems * sizeof(TYPE), alignof(TYPE), pe, false, {sig_addr, signal, sig_op});      \
  }
#define SYMM_SHMEM_PUTS(NAME, TYPE)                          \
  SYMM_SHMEM_PUT(nvshmem_##NAME##_, , Thread, , TYPE)        \
  SYMM_SHMEM_PUT(nvshmemx_##NAME##_, _warp, Warp, , TYPE)    \
  SYMM_SHMEM_PUT(nvshmemx_##NAME##_, _block, Block, , TYPE)
#define SYMM_SHMEM_SIZED(SIZE, TYPE)                         \
  SYMM_SHMEM_PUT(nvshmem_, , Thread, SIZE, TYPE)             \
  SYMM_SHMEM_PUT(nvshmemx_, _warp, Warp, SIZE, TYPE)         \
  SYMM_SHMEM_PUT(nvshmemx_, _block, Block, SIZE, TYPE)
SYMM_SHMEM_TYPES(SYMM_SHMEM_PUTS)
SYMM_SHMEM_SIZES(SYMM_SHMEM_SIZED)
#undef SYMM_SHMEM_SIZED
#undef SYMM_SHMEM_PUTS
#undef SYMM_SHMEM_PUT

// nvshmem_TYPE_iput and nvshmem_TYPE_iget copy nelems elements that are dst apart in dest and sst
// apart in source, counted in elements.
//
// Order: none, as for nvshmem_putmem and nvshmem_getmem.
//
// Waits: as they do.
//
// Example:
//
//   if (threadIdx.x == 0) nvshmem_float_iput(data, x, 2, 1, n / 2, peer);
#define SYMM_SHMEM_STRIDED(PREFIX, SUFFIX, TEAM, TYPE)                                                                                      \
  SYMM_SHMEM void PREFIX##iput##SUFFIX(TYPE* dest, const TYPE* source, long dst, long sst, size_t nelems, int pe, SYMM_SHMEM_LINE) {        \
    symm::shmem_strided<true, symm::TEAM, TYPE>(symm::ShmemSite(symm::kShmemIput, line), dest, (TYPE*)source, dst, sst, nelems, pe);        \
  }                                                                                                                                         \
  SYMM_SHMEM void PREFIX##iget##SUFFIX(TYPE* dest, const TYPE* source, long dst, long sst, size_t nelems, int pe, SYMM_SHMEM_LINE) {        \
    symm::shmem_strided<false, symm::TEAM, TYPE>(symm::ShmemSite(symm::kShmemIget, line), source, dest, sst, dst, nelems, pe);              \
  }
#define SYMM_SHMEM_STRIDED_ALL(NAME, TYPE)                     \
  SYMM_SHMEM_STRIDED(nvshmem_##NAME##_, , Thread, TYPE)        \
  SYMM_SHMEM_STRIDED(nvshmemx_##NAME##_, _warp, Warp, TYPE)    \
  SYMM_SHMEM_STRIDED(nvshmemx_##NAME##_, _block, Block, TYPE)
SYMM_SHMEM_TYPES(SYMM_SHMEM_STRIDED_ALL)
#undef SYMM_SHMEM_STRIDED_ALL
#undef SYMM_SHMEM_STRIDED
