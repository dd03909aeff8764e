// pipes.cuh: collectives of a group that spans hosts move data by pipes between hosts, and by loads
// and stores within a host.
//
// A pipe leads from one member to another member on a different host. It has kPipeSlots slots, each
// of which holds a chunk. The sender fills the slot in its outbox and puts it into the receiver's
// inbox; the receiver uses the chunk and signals the sender. Every slot has its own counts, in two
// of the group's words (net.cuh), so messages may overtake each other:
//
//	arrived[place][slot]  at the receiver: the number of chunks that have come from the member at a
//	                      place; the receiver counts the chunks that it has used
//	used[place][slot]     at the sender: the number of chunks that the member at a place has used; the
//	                      sender counts the chunks that it has sent
//
// A sender waits until all earlier chunks of a slot are used. Therefore the source of a put is
// never overwritten, and no barrier is needed: a call takes the latency of one message. All words
// count up and are never reset while ranks run.
//
// A call moves a stream of chunks from this member to each of its receivers, and a stream from each
// of its senders to this member. Chunk k travels in slot k % kPipeSlots. Every block has the same
// number of slots, at least two, and handles the chunks of its slots in order:
//
//	produce  writes the chunk into the outbox, from tensors of this member or of others on this host
//	send     puts the chunk to the receivers, once their blocks have used the slot
//	consume  waits for the senders' chunks and combines them with the data of this host to a piece of
//	         the result
//	used     signals the senders
//
// Produce and send run ahead by all slots but one, so that copies, messages and sums overlap. If
// the streams of a call differ in length, a pipe whose stream has ended carries no more chunks.
//
// A wait ends when any member of the group is gone, because the member that it waits for may in
// turn wait for the lost one.
//
// Members on one host meet when the kernel begins and before it ends, because they read and write
// each other's tensors. If they share boxes, they also meet for each chunk:
//
//	outboxes  after produce and before consume. They then send ahead by one slot less, which keeps a
//	          chunk in the outbox until all of them have come to the next chunk.
//	inboxes   before consume, when the chunks for all of them have come, and after it
//	filling   a member produces for all of them. They meet when the slots of all are free, and before
//	          they send. A chunk then has one part from each of them.
#pragma once
#include "reduce/reduce.cuh"
#include "symm/net.cuh"

namespace symm {

constexpr u32 kPipeSlots = 4;
SYMM_VALUES(Pipes, kPipeSlots)

// Far is a member on another host at the other end of a pipe, and its place among the members that
// have pipes to each other.
struct Far {
  u16 member, place;
};
SYMM_LAYOUT(Far, member, place)

// Source is a part of the result: the chunks of the member at a place, or one part of these chunks.
// They lie in the inbox or outbox of member number `here` on this host, which may be this member.
// In reductions mark is set for the first source of each host; in copies it is the number of the
// output piece that the source becomes.
struct Source {
  u16 place, mark;
  u8 here, outbox, part, rest;
};
SYMM_LAYOUT(Source, place, mark, here, outbox, part, rest)

// Target is an outbox to fill with slice number `slice` of the input, for the member at a place. It
// belongs to member number `here` on this host.
struct Target {
  u16 place, slice, here;
};
SYMM_LAYOUT(Target, place, slice, here)

// PipeArgs are the pipes of a group in one call.
struct PipeArgs {
  Context inside;                // of the members on this host; channels: at least the grid's blocks
  Context between;               // of the group
  Signals meetings;              // of the members on this host
  const NetGroup* net;
  char* inbox;                   // [place][slot][slot_bytes]
  char* outbox;                  // likewise
  u64 slot_bytes;
  u64 offset;                    // offset of the inbox in its window, the same at all members
  u32 window;
  u32 words;                     // index of the pipes' first word among the group's
  u32 place, places;             // this member's place, and the number of places
  u32 same;                      // not 0: every receiver gets the chunk in the outbox at this member's place
  u32 receivers, senders;
  Far to[kMaxRanks], from[kMaxRanks];
  u16 here[kMaxRanks];           // the members on this host
};
SYMM_LAYOUT(PipeArgs, inside, between, meetings, net, inbox, outbox, slot_bytes, offset, window, words, place, places, same, receivers, senders, to, from, here)

// PipeMeets are the reasons why members on one host meet for each chunk.
enum PipeMeets : u32 {
  kMeetFilling = 1,  // they fill each other's outboxes
  kMeetOutboxes = 2, // they read each other's outboxes
  kMeetInboxes = 4   // they read each other's inboxes
};
SYMM_VALUES(PipeMeets, kMeetFilling, kMeetOutboxes, kMeetInboxes)

// HostsArgs are the arguments of hosts_reduce and hosts_copy. All sizes and offsets are in
// elements, of one byte for hosts_copy. Slices of the input and pieces of the output may consist of
// rows, which lie further apart than they are wide.
struct HostsArgs {
  PipeArgs pipes;
  u32 chunk;                     // elements of a chunk, or of each of its parts
  u32 parts;                     // of a chunk: 1, or one for each member on this host
  u32 meets;                     // of PipeMeets
  u32 op;                        // symm::ReduceOp
  u64 n;                         // elements of a stream
  u64 slice, stride;             // from slice to slice of the input; from piece to piece of the output
  u64 width;                     // of a row
  u64 in_pitch, out_pitch;       // from row to row of a slice, of a piece; 0: rows follow each other
  u32 sources, targets, ins, outs;
  Source source[kMaxRanks];
  Target target[kMaxRanks];
  const void* in[kMaxRanks];     // of members on this host, in the order of their ranks
  void* out[kMaxRanks];
};
SYMM_LAYOUT(HostsArgs, pipes, chunk, parts, meets, op, n, slice, stride, width, in_pitch, out_pitch, sources, targets, ins, outs, source, target, in, out)
static_assert(sizeof(HostsArgs) <= 4096, "fits the parameters of a kernel");

enum PipeWord : u32 { kArrived = 0, kUsed = 1 };

// pipe_word is the index of a word among the words of the group, and of its count among their
// counts.
__device__ __forceinline__ u32 pipe_word(const PipeArgs& a, u32 kind, u32 place, u32 slot) {
  return a.words + (kind * a.places + place) * kPipeSlots + slot;
}

// slot_at returns the slot of chunk k in an inbox or outbox.
__device__ __forceinline__ char* slot_at(const PipeArgs& a, const void* box, u32 place, u64 k) {
  return (char*)box + (place * kPipeSlots + k % kPipeSlots) * a.slot_bytes;
}

// box_of returns the inbox or outbox of member i on this host, given the box of this member: the
// memory of all members has the same layout.
__device__ __forceinline__ char* box_of(const PipeArgs& a, u32 i, const void* box) {
  return (char*)a.meetings.block[i] + ((const char*)box - (const char*)a.meetings.block[a.inside.rank]);
}

// length_of returns the number of elements of chunk k, or of each of its parts.
__device__ __forceinline__ u64 length_of(const HostsArgs& a, u64 k) {
  const u64 left = a.n - k * a.chunk;
  return left < a.chunk ? left : a.chunk;
}

// row_at returns the index of element e of rows of a width that lie `pitch` apart; 0: one after the
// other.
__device__ __forceinline__ u64 row_at(u64 e, u64 width, u64 pitch) { return pitch ? e / width * pitch + e % width : e; }

// source_at and target_at return the address of chunk k of a source and of a target.
__device__ __forceinline__ char* source_at(const PipeArgs& a, const Source& from, u64 k) {
  return slot_at(a, box_of(a, from.here, from.outbox ? a.outbox : a.inbox), from.place, k);
}
__device__ __forceinline__ char* target_at(const HostsArgs& a, u32 t, u64 k) {
  return slot_at(a.pipes, box_of(a.pipes, a.target[t].here, a.pipes.outbox), a.target[t].place, k);
}

// meet_inside: the blocks with the same index of the members on this host meet, by the protocol of
// barrier.cuh. It returns false if it gave up.
__device__ inline bool meet_inside(const PipeArgs& a, const NetGroup& g) {
  const Context& c = a.inside;
  u32* const count = rounds(a.meetings, c, blockIdx.x);
  __syncthreads();
  const u32 round = load_relaxed(count) + 1;
  arrive(a.meetings, c, blockIdx.x, round);
  bool ok = true;
  for (u32 i = threadIdx.x; ok && i < (u32)c.ranks(); i += blockDim.x)
    if ((int)i != c.rank)
      ok = net_wait<u32>(g, a.between, arrival(a.meetings, c, c.rank, blockIdx.x, (int)i), round, kRound, kAnyMember, Wait{kNetBarrier, a.here[i], blockIdx.x, round});
  ok = __syncthreads_and(ok);
  if (threadIdx.x == 0 && ok) store_relaxed(count, round);
  return ok;
}

// slot_free: the block waits until all receivers have used the chunk sent before in the slot of
// chunk k. It returns false if it gave up.
__device__ inline bool slot_free(const PipeArgs& a, const NetGroup& g, u64 k, WaitKind kind = kNetUsed) {
  bool ok = true;
  for (u32 j = threadIdx.x; ok && j < a.receivers; j += blockDim.x) {
    const u32 at = pipe_word(a, kUsed, a.to[j].place, (u32)(k % kPipeSlots));
    ok = net_wait<u64>(g, a.between, own_words(g, a.between) + at, g.counts[at], kAtLeast, kAnyMember, Wait{kind, a.to[j].member, (u32)(k % kPipeSlots), k + 1});
  }
  return __syncthreads_and(ok);
}

// send: the block puts chunk k to all receivers. bytes(place) is its length for the receiver at a
// place, 0 if there is none for it. It returns false if it gave up.
template <class Bytes> __device__ __forceinline__ bool send(const PipeArgs& a, const NetGroup& g, u64 k, Bytes bytes) {
  __syncthreads();
  bool ok = true;
  for (u32 j = threadIdx.x; ok && j < a.receivers; j += blockDim.x) {
    const Far to = a.to[j];
    const u64 length = bytes(to.place);
    if (!length) continue;
    fence();
    NetOp op = {};
    op.kind = kNetPut;
    op.peer = g.members[to.member].rank;
    op.local = (u64)slot_at(a, a.outbox, a.same ? a.place : to.place, k);
    op.window = a.window;
    op.offset = a.offset + (a.place * kPipeSlots + k % kPipeSlots) * a.slot_bytes;
    op.bytes = length;
    op.signal = kNetAddIndexed;
    op.signal_at = g.members[to.member].words + pipe_word(a, kArrived, a.place, (u32)(k % kPipeSlots));
    op.value = 1;
    ok = post(g.port, a.between, to.member, op, nullptr);
    g.counts[pipe_word(a, kUsed, to.place, (u32)(k % kPipeSlots))]++;
  }
  return __syncthreads_and(ok);
}

// chunks_came: the block waits for chunk k of all senders. It returns false if it gave up.
__device__ inline bool chunks_came(const PipeArgs& a, const NetGroup& g, u64 k) {
  bool ok = true;
  for (u32 j = threadIdx.x; ok && j < a.senders; j += blockDim.x) {
    const u32 at = pipe_word(a, kArrived, a.from[j].place, (u32)(k % kPipeSlots));
    ok = net_wait<u64>(g, a.between, own_words(g, a.between) + at, g.counts[at] + 1, kAtLeast, kAnyMember, Wait{kNetChunk, a.from[j].member, (u32)(k % kPipeSlots), k + 1});
  }
  return __syncthreads_and(ok);
}

// slot_used: the block signals to all senders that their slot of chunk k is used. A strong signal
// arrives after all earlier puts to them. It returns false if it gave up.
__device__ inline bool slot_used(const PipeArgs& a, const NetGroup& g, u64 k, bool strong = false) {
  __syncthreads();
  bool ok = true;
  for (u32 j = threadIdx.x; ok && j < a.senders; j += blockDim.x) {
    const Far from = a.from[j];
    fence();
    g.counts[pipe_word(a, kArrived, from.place, (u32)(k % kPipeSlots))]++;
    NetOp op = {};
    op.kind = kNetPut;
    op.peer = g.members[from.member].rank;
    op.signal = kNetAddIndexed;
    op.strong = strong;
    op.signal_at = g.members[from.member].words + pipe_word(a, kUsed, a.place, (u32)(k % kPipeSlots));
    op.value = 1;
    ok = post(g.port, a.between, from.member, op, nullptr);
  }
  return __syncthreads_and(ok);
}

// pump moves the block's chunks: produce(k) fills the outboxes with chunk k, and consume(k) uses
// the chunks that came. `chunks` is the length, in chunks, of the longest stream of the members on
// this host; `come` is the length of the streams to this member; bytes(place, k) is the length of
// chunk k for the receiver at a place, 0 if there is none for it.
template <class Bytes, class Produce, class Consume>
__device__ __forceinline__ void pump(const PipeArgs& a, u32 why, u64 chunks, u64 come, Bytes bytes, Produce produce, Consume consume) {
  const NetGroup g = *a.net;
  const u64 own = kPipeSlots / gridDim.x;
  auto number = [&](u64 i) { return i / own * kPipeSlots + i % own * gridDim.x + blockIdx.x; };
  auto meets = [&](u32 for_this) { return !(why & for_this) || meet_inside(a, g); };
  bool ok = meet_inside(a, g);
  for (u64 i = 0, sent = 0; ok && number(i) < chunks; i++) {
    for (; ok && sent < i + own - 1 && number(sent) < chunks; sent++) {
      const u64 k = number(sent);
      if (!(ok = slot_free(a, g, k) && meets(kMeetFilling))) break;
      produce(k);
      ok = meets(kMeetFilling) && send(a, g, k, [&](u32 place) { return bytes(place, k); });
    }
    const u64 k = number(i);
    const bool comes = k < come;
    if (!ok || !meets(kMeetOutboxes) || (comes && !chunks_came(a, g, k)) || !meets(kMeetInboxes)) return;
    if (comes) consume(k);
    ok = meets(kMeetInboxes) && (!comes || slot_used(a, g, k));
  }
  if (ok) meet_inside(a, g);
}

// pump for streams of the same length, of elements that take so many bytes.
template <class Produce, class Consume>
__device__ __forceinline__ void pump(const HostsArgs& a, u64 size, Produce produce, Consume consume) {
  const u64 chunks = (a.n + a.chunk - 1) / a.chunk;
  pump(a.pipes, a.meets, chunks, chunks, [&](u32, u64 k) { return length_of(a, k) * size * a.parts; }, produce, consume);
}

}  // namespace symm
