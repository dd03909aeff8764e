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

// Places are the places of packet i's elements in pieces of n elements. Whole promises that the pieces
// are united and consist of whole units: reads of several pieces then do not wait for each other.
template <class T, bool Whole> class Places {
 public:
  typedef Elements<T, Load<T>::kCount> Unit;
  __device__ __forceinline__ Places(const PieceRows& rows, u64 i, u64 n) {
#pragma unroll
    for (int k = 0; k < Load<T>::kUnits; k++) {
      const u64 e = place<T>(i, k) * Load<T>::kCount;
      within_[k] = e < n;
      at_[k] = e < n ? rows.at(e) : 0;
    }
  }

  // take reads the elements, with any values beyond the piece.
  __device__ __forceinline__ Load<T> take(const T* in) const {
    Load<T> l;
#pragma unroll
    for (int k = 0; k < Load<T>::kUnits; k++) l.unit[k] = *(const Unit*)(in + at_[k]);
    return l;
  }
  __device__ __forceinline__ void put(T* out, const Load<T>& l) const {
#pragma unroll
    for (int k = 0; k < Load<T>::kUnits; k++)
      if (within_[k]) *(Unit*)(out + at_[k]) = l.unit[k];
  }

 private:
  u64 at_[Load<T>::kUnits];  // 0 for a unit beyond the piece
  bool within_[Load<T>::kUnits];
};
template <class T> class Places<T, false> {
 public:
  typedef Elements<T, Load<T>::kCount> Unit;
  __device__ __forceinline__ Places(const PieceRows& rows, u64 i, u64 n) : rows_(rows), i_(i), n_(n) {}
  __device__ __forceinline__ Load<T> take(const T* in) const {
    constexpr int N = Load<T>::kCount;
    const bool together = united<T>(in, rows_);
    Load<T> l = {};
    if (together && full<T>(i_, n_)) {
#pragma unroll
      for (int k = 0; k < Load<T>::kUnits; k++) l.unit[k] = *(const Unit*)(in + rows_.at(place<T>(i_, k) * N));
      return l;
    }
#pragma unroll
    for (int k = 0; k < Load<T>::kUnits; k++) {
      const u64 e = place<T>(i_, k) * N;
      if (together && e + N <= n_) l.unit[k] = *(const Unit*)(in + rows_.at(e));
      else if (e < n_) l.unit[k] = take_apart(in, rows_, e, n_);
    }
    return l;
  }
  __device__ __forceinline__ void put(T* out, const Load<T>& l) const {
    constexpr int N = Load<T>::kCount;
    const bool together = united<T>(out, rows_);
#pragma unroll
    for (int k = 0; k < Load<T>::kUnits; k++) {
      const u64 e = place<T>(i_, k) * N;
      if (together && e + N <= n_) *(Unit*)(out + rows_.at(e)) = l.unit[k];
      else if (e < n_) put_apart(out, rows_, e, n_, l.unit[k]);
    }
  }

 private:
  const PieceRows& rows_;
  u64 i_, n_;
};

// send_pieces sends a packet of the piece of each other rank, and an empty packet to a rank without
// one: the protocol needs a packet to and from every rank. It returns the elements at own, which it
// reads together with the pieces, or zeros if own is null.
template <class T, bool Whole, class Args>
__device__ __forceinline__ Load<T> send_pieces(const Args& a, const Places<T, Whole>& places, u32 epoch, const T* own) {
  const Context& c = a.context;
  Load<T> mine = {};
#pragma unroll 1
  for (int first = 1; first <= c.ranks(); first += kTogether) {
    Load<T> l[kTogether] = {};
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      if (first + j > c.ranks()) break;
      const T* const src = first + j == c.ranks() ? own : (const T*)a.src[neighbour(c, first + j)];
      if (src) l[j] = places.take(src);
    }
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      if (first + j < c.ranks()) store_packet(inbox(a, neighbour(c, first + j), c.rank, epoch), pack(l[j], epoch));
      else if (first + j == c.ranks()) mine = l[j];
    }
  }
  return mine;
}

}  // namespace symm
