// stand.h: which kernels stand still, so that only others can end their waits.
//
// A block stands still if each of its threads that has not ended polls in vain in a loop that nothing but a
// change of memory ends (symm_cpu_endless), or waits in the run time, at a barrier or in a warp operation, for
// others of the block. A loop of the kernel's own may count its polls, so a thread in such a loop does not
// stand. A grid stands still if all its blocks have begun and those that have not ended stand still.
//
// Executors look at their blocks between polls in vain, before they pause, so that it costs nothing while threads
// make progress. Streams compare what the executors have published.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

struct Executor;

// look_whether_stands is called by an executor after a failed poll of the running thread. It publishes in
// Executor::stand the number of the stand, in the high half, and in the low half how often all threads of the block
// have polled in vain since it began, 0 if the block does not stand. end_stand is called as soon as a thread of the
// block makes progress; the next stand has another number. So a count that grows while the number stays is of a block
// that has stood all the time.
void look_whether_stands(Executor&);
void end_stand(Executor&);

// Standing is what a stream knows of a grid that stands still. looks grows when all threads of all blocks have polled
// in vain since it grew before; number changes when a thread has made progress.
struct Standing {
  std::uint64_t number = 0, looks = 0;

  // Between begin and end, add adds each executor that runs blocks of the grid. end reports whether all of them
  // stand still.
  void begin();
  void add(const Executor&);
  bool end();

 private:
  struct Block {
    const Executor* executor;
    std::uint32_t number, looks;
  };
  std::vector<Block> blocks_, now_;
  bool all_ = false;
};

}  // namespace emu
