// sanitize_network.h: what the network's engine does to memory, for the kernels that posted it and as its part in what happens before what.
//
// Each operation has tasks of its own, as blocks have. They begin with what the thread knew that posted it, and the thread does not know of them. A put has two, its reads of the source
// here and its writes at the peer; a get has one, for both sides. Three things tell of tasks:
//
//	its signal               the put's own two. A strong one also those of all puts that this rank had posted to the peer before; a weak one would tell of these if messages
//	                         could not overtake each other, so that who relies on it has an order that is too weak.
//	its counter, `done`      what is over here: the reads of sources, and gets
//	a fence                  all of what was posted before, to its peer or to all
//
// All three tell as well what the thread knew that posted. The tasks of a kind for one peer are numbered as they are posted, so that "all before" is one entry of a clock; single ones
// are an entry each. A signal's change of its word is an access of the put's second task.
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

// Network is what a device's engine tells, which calls it from one thread.
class Network {
 public:
  explicit Network(Device&);
  Network(const Network&) = delete;

  const net_watcher* watcher() const { return &table_; }
  // over is what somebody knows who waited until all that was posted is over here. After ended, as a new epoch begins, it is over
  // at the peers as well, and what peers posted is here.
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
    u32 sequence = 0;                     // of what was posted last
    std::array<Post, 8> posts;            // of the latest threads
    u32 next_post = 0;
    u32 forgotten = 0;                    // the last sequence of a thread that is not among these any more
  };
  // What a message's record says, and where it is.
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
  void count(u64 name, u64* counter);
  void passed(u64 name);
  void done(u64* word, u64 value);

  Peer& peer(u32);
  // note remembers who has posted; before is the last sequence that whoever posts now knows of, at a level: what was forgotten counts as known.
  static void note(Peer&, const Post&);
  static u32 before(const Peer&, const Known&, unsigned level, const Post&);
  // learn_all: all that was posted to a peer is over.
  static void learn_all(Known&, const Peer&);
  bool find(u32 source, u64 name, Carrying&);
  void came(const Launch&);
  // store changes a word as one side of an operation does, and tells what it lets others know.
  void store(Sanitizer&, const Carrying&, unsigned side, const Known& tells, u64* word, bool add, u64 value);

  Device& device_;
  net_watcher table_;
  u32 fences_ = 0, fence_ = 0;  // their actor, and the number of the last
  u64 last_ = 0;                // that has passed
  Thread thread_{};
  Worker worker_{};
  Block block_;

  std::mutex mutex_;  // guards what follows
  std::vector<Peer> peers_;
  std::unordered_map<u32, u32> came_;  // the latest of others' operations that has done something here, by actor
  Known over_;
};

}  // namespace emu::sanitize
