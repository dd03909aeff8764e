// pieces.cuh: packets carry pieces of memory (packets.cuh). A piece is rows of elements that may lie
// further apart than they are wide. Its elements are counted row after row.
#pragma once
#include "packets/packets.cuh"

namespace symm {

// PieceRows is how a piece lies: rows of cols elements, pitch elements apart, or a single row if cols is
// 0.
struct PieceRows {
  u64 cols, pitch;
  // at returns where element e is, counted from the first.
  __device__ __forceinline__ u64 at(u64 e) const { return cols ? e / cols * pitch + e % cols : e; }
};

// united reports whether packet i of a piece of n elements is full, and the elements of each of its
// units lie side by side and are aligned.
template <class T> __device__ __forceinline__ bool united(const void* p, const PieceRows& rows, u64 i, u64 n) {
  return inside<T>(p, i, n) && ((rows.cols | rows.pitch) & (Load<T>::kCount - 1)) == 0;
}

// take_piece reads the elements of packet i of a piece of n elements, with zeros beyond n.
template <class T> __device__ __noinline__ Load<T> take_apart(const T* in, const PieceRows& rows, u64 i, u64 n) {
  constexpr int N = Load<T>::kCount;
  Load<T> l = {};
  for (int k = 0; k < Load<T>::kUnits; k++)
    for (int j = 0; j < N; j++)
      if (place<T>(i, k) * N + j < n) l.unit[k].v[j] = in[rows.at(place<T>(i, k) * N + j)];
  return l;
}
template <class T> __device__ __forceinline__ Load<T> take_piece(const T* in, const PieceRows& rows, u64 i, u64 n) {
  constexpr int N = Load<T>::kCount;
  if (!united<T>(in, rows, i, n)) return take_apart(in, rows, i, n);
  Load<T> l;
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) l.unit[k] = *(const Elements<T, N>*)(in + rows.at(place<T>(i, k) * N));
  return l;
}

template <class T> __device__ __noinline__ void put_apart(T* out, const PieceRows& rows, u64 i, u64 n, Load<T> l) {
  constexpr int N = Load<T>::kCount;
  for (int k = 0; k < Load<T>::kUnits; k++)
    for (int j = 0; j < N; j++)
      if (place<T>(i, k) * N + j < n) out[rows.at(place<T>(i, k) * N + j)] = l.unit[k].v[j];
}
template <class T> __device__ __forceinline__ void put_piece(T* out, const PieceRows& rows, u64 i, u64 n, const Load<T>& l) {
  constexpr int N = Load<T>::kCount;
  if (!united<T>(out, rows, i, n)) return put_apart(out, rows, i, n, l);
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) *(Elements<T, N>*)(out + rows.at(place<T>(i, k) * N)) = l.unit[k];
}

// send_pieces sends packet i of the piece of each other rank, and an empty packet to a rank that
// has none: the protocol wants one to and from every rank.
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
