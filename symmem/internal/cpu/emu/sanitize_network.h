// sanitize_network.h: the engine's accesses to memory, on behalf of the kernels that posted them
// and as its part of happens-before.
//
// Each operation has its own tasks, as blocks have. They begin with the knowledge of the thread
// that posted the operation, and the thread does not know of them. A put has two tasks: its reads
// of the source here, and its writes at the peer. A get has one, for both sides. Three things
// publish tasks:
//
//	its signal               both tasks of its put. A strong signal also those of all earlier puts of this rank to the peer. A weak signal would publish these
//	                         if messages could not overtake each other, so relying on it is an order that is too weak.
//	its counter, `done`      what is over here: the reads of sources, and gets
//	a fence                  everything posted before, to its peer or to all
//
// All three also publish the knowledge of the posting thread. The tasks of one kind for one peer
// are numbered in the order of posting, so that "all before" is one entry of a clock; single tasks
// are one entry each. A signal's change of its word is an access of the put's second task.
#pragma once

#include <array>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "../../net/proxy/watcher.h"
#include "sanitize.h"

namespace emu {
struct Device;
}

namespace emu::sanitize {

// Network receives the calls of a device's engine, which come from one thread.
class Network {
 public:
  explicit Network(Device&);
  Network(const Network&) = delete;

  const net_watcher* watcher() const { return &table_; }
  // over returns the knowledge of a host that has waited until everything posted is over here.
  // After ended, when a new epoch begins, it is also over at the peers, and what peers posted has
  // arrived.
  Known over();
  void ended();

 private:
  // Post is the latest operation that a thread has posted to a peer.
  struct Post {
    Task task = 0;  // 0: none
    u32 time = 0, sequence = 0;
    u16 thread = 0;
  };
  struct Peer {
    u32 reads = 0, writes = 0, gets = 0;  // actors
    u32 sequence = 0;                     // of the latest operation
    std::array<Post, 8> posts;            // of the latest threads
    u32 next_post = 0;
    u32 forgotten = 0;  // the last sequence of a thread that is no longer in posts
  };
  // The contents of a message's record, and its place.
  struct Carrying {
    Launch launch[2];
    Task task[2];
    u32 pc, block;
    u16 thread;
    Known posted, over, landed;
  };

  u64 posted(const net_posted&);
  void touched(u32 source, u64 name, bool write, std::uintptr_t at, u64 pitch, u64 width, u64 bytes);
  void change(u32 source, u64 name, u64* word, bool add, u64 value);
  u64 atomic(u32 source, u64 name, void* word, u32 bytes, u32 operation, u64 value, u64 compare);
  void count(u64 name, u64* counter);
  void passed(u64 name);
  void done(u64* word, u64 value);

  Peer& peer(u32);
  // note records the thread that has posted. before returns the last sequence that the posting thread knows of,
  // at a level; forgotten ones count as known.
  static void note(Peer&, const Post&);
  static u32 before(const Peer&, const Known&, unsigned level, const Post&);
  // learn_all: everything posted to a peer is over.
  static void learn_all(Known&, const Peer&);
  bool find(u32 source, u64 name, Carrying&);
  void came(const Launch&);
  // store changes a word as one side of an operation, and publishes `tells`.
  void store(Sanitizer&, const Carrying&, unsigned side, const Known& tells, u64* word, bool add, u64 value);

  Device& device_;
  net_watcher table_;
  u32 fences_ = 0, fence_ = 0;  // the actor of fences, and the number of the last fence
  u64 last_ = 0;                // the last operation that has passed
  Thread thread_{};
  Worker worker_{};
  Block block_;

  std::mutex mutex_;  // guards the following
  std::vector<Peer> peers_;
  // the latest operation of others that has acted here, by actor
  std::unordered_map<u32, u32> came_;
  Known over_;
};

}  // namespace emu::sanitize
