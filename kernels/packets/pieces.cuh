// pieces.cuh: packets carry pieces of memory (packets.cuh). A piece is rows of elements that may
// lie further apart than they are wide. Its elements are counted row after row.
#pragma once
#include "packets/packets.cuh"

namespace symm {

// PieceRows is the layout of a piece: rows of cols elements, pitch elements apart, or a single row
// if cols is 0. A piece has less than 2^32 elements.
struct PieceRows {
  u64 cols, pitch;
  // at returns the place of element e, counted from the first element.
  __device__ __forceinline__ u64 at(u64 e) const { return cols ? (u32)e / (u32)cols * pitch + (u32)e % (u32)cols : e; }
};

// united reports whether the elements of each unit of a piece lie side by side and are aligned.
template <class T> __device__ __forceinline__ bool united(const void* p, const PieceRows& rows) {
  return (((u64)p & (sizeof(T) * Load<T>::kCount - 1)) | ((rows.cols | rows.pitch) & (Load<T>::kCount - 1))) == 0;
}

// take_apart and put_apart move the elements of a unit, from element e on, one by one.
template <class T> __device__ __noinline__ Elements<T, Load<T>::kCount> take_apart(const T* in, const PieceRows& rows, u64 e, u64 n) {
  Elements<T, Load<T>::kCount> unit = {};
  for (int j = 0; j < Load<T>::kCount && e + j < n; j++) unit.v[j] = in[rows.at(e + j)];
  return unit;
}
template <class T> __device__ __noinline__ void put_apart(T* out, const PieceRows& rows, u64 e, u64 n, Elements<T, Load<T>::kCount> unit) {
  for (int j = 0; j < Load<T>::kCount && e + j < n; j++) out[rows.at(e + j)] = unit.v[j];
}

// full reports whether all units of packet i lie within a piece of n elements.
template <class T> __device__ __forceinline__ bool full(u64 i, u64 n) {
  return (place<T>(i, Load<T>::kUnits - 1) + 1) * Load<T>::kCount <= n;
}

// take_piece reads the elements of packet i of a piece of n elements, with zeros beyond n. The
// loads of a full packet do not wait for each other.
template <class T> __device__ __forceinline__ Load<T> take_piece(const T* in, const PieceRows& rows, u64 i, u64 n) {
  constexpr int N = Load<T>::kCount;
  const bool together = united<T>(in, rows);
  Load<T> l = {};
  if (together && full<T>(i, n)) {
#pragma unroll
    for (int k = 0; k < Load<T>::kUnits; k++) l.unit[k] = *(const Elements<T, N>*)(in + rows.at(place<T>(i, k) * N));
    return l;
  }
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) {
    const u64 e = place<T>(i, k) * N;
    if (together && e + N <= n) l.unit[k] = *(const Elements<T, N>*)(in + rows.at(e));
    else if (e < n) l.unit[k] = take_apart(in, rows, e, n);
  }
  return l;
}
template <class T> __device__ __forceinline__ void put_piece(T* out, const PieceRows& rows, u64 i, u64 n, const Load<T>& l) {
  constexpr int N = Load<T>::kCount;
  const bool together = united<T>(out, rows);
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) {
    const u64 e = place<T>(i, k) * N;
    if (together && e + N <= n) *(Elements<T, N>*)(out + rows.at(e)) = l.unit[k];
    else if (e < n) put_apart(out, rows, e, n, l.unit[k]);
  }
}

// send_pieces sends packet i of the piece of each other rank, and an empty packet to a rank without
// one: the protocol needs a packet to and from every rank.
template <class T, class Args>
__device__ __forceinline__ void send_pieces(const Args& a, const PieceRows& rows, u32 epoch, u64 i, u64 n) {
#pragma unroll 1
  for (int first = 1; first < a.context.ranks(); first += kTogether) {
    Packet q[kTogether];
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      if (first + j >= a.context.ranks()) break;
      const T* const src = (const T*)a.src[neighbour(a.context, first + j)];
      q[j] = src ? pack(take_piece(src, rows, i, n), epoch) : Packet{{}, epoch};
    }
#pragma unroll
    for (int j = 0; j < kTogether; j++)
      if (first + j < a.context.ranks()) store_packet(inbox(a, neighbour(a.context, first + j), a.context.rank, epoch), q[j]);
  }
}

}  // namespace symm
