// handle.cuh: the kernel argument for a symmetric tensor.
#pragma once
#include "symm/net.cuh"
#ifdef SYMM_BOUNDS
#include "symm/bounds.cuh"
#endif

namespace symm {

// Handle is one tensor, rendezvoused by a group, as returned by symm.Rendezvous. Pass it to a
// kernel whose parameter is symm::Handle. It is a symm::Context too: h.rank and h.world_size are
// the rank's number in the group and the number of members.
//
// Example:
//
//   float* const theirs = h.buffer<float>((h.rank + 1) % h.world_size);
//   if (theirs) x[0] = theirs[0];
struct Handle : Context {
  u64 bytes;      // of the tensor
  u64 pad_bytes;  // of its signal pad
  char* buffers[kMaxRanks];
  u32* pads[kMaxRanks];
  Signals signals;
  const NetGroup* net;  // set if the group spans hosts, otherwise 0
  u64 start;            // offset of the tensor in its window
  u32 window;           // ID of the data's window between hosts; the pads' window has the next ID
  u32 reserved;

  // buffer<T>(p) is rank p's copy of the tensor, or 0 if rank p is on another host. pad(p) is rank
  // p's pad of this tensor, or 0 if rank p is on another host. A pad has pad_bytes/4 words, zero
  // when allocated, for the kernel's own use.
#ifdef SYMM_BOUNDS
  template <class T> __device__ __forceinline__ Checked<T> buffer(int p) const { return Checked<T>((T*)buffers[p], extent(buffers[p], bytes)); }
  __device__ __forceinline__ Checked<u32> pad(int p) const { return Checked<u32>(pads[p], extent(pads[p], pad_bytes)); }
  __device__ __forceinline__ Extent extent(const void* first, u64 n) const { return Extent{(u64)first, first ? n : 0, watch, ordinal, 0}; }
#else
  template <class T> __device__ __forceinline__ T* buffer(int p) const { return (T*)buffers[p]; }
  __device__ __forceinline__ u32* pad(int p) const { return pads[p]; }
#endif
  // word(p, i) is the i-th 64-bit signal of rank p's pad.
  __device__ __forceinline__ u64* word(int p, u32 i) const { return (u64*)pads[p] + i; }
  // far(p) reports whether rank p is on another host, where operations reach its memory and
  // pointers do not.
  __device__ __forceinline__ bool far(int p) const { return net != nullptr && net->members[p].block == nullptr; }
};
SYMM_LAYOUT(Handle, bytes, pad_bytes, buffers, pads, signals, net, start, window)

}  // namespace symm
