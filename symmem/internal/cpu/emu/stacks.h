// stacks.h: the stacks of one executor's fibers, in one reserved region.
//
// A stack costs memory only once it is used. Each has a guard page below it. Their tops are at
// different offsets in a page; otherwise a thousand stacks would compete for the same few cache
// lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory.h"

namespace emu {

class Stacks {
 public:
  explicit Stacks(unsigned count);
  ~Stacks();
  Stacks(const Stacks&) = delete;

  // take returns a free stack; there are as many as a block has threads.
  int take() {
    int s = free_[--free_count_];
    if (s >= used_) guard(s);
    return s;
  }
  void give(int s) { free_[free_count_++] = s; }
  // reset frees all stacks, even those in use.
  void reset();

  // prepare returns the stack pointer that, when resumed, starts entry on stack s.
  void* prepare(int s, void (*entry)());

  bool contains(std::uintptr_t a) const { return a - base_ < count_ * stride_; }
  // guards reports whether an address is in a guard page.
  bool guards(std::uintptr_t a) const { return contains(a) && (a - base_) % stride_ < page_size(); }

 private:
  void guard(int s);

  // of a stack, its guard page included: an odd number of pages, so that stacks use different cache lines
  const std::size_t stride_;
  std::uintptr_t base_;
  unsigned count_;
  int used_ = 0;     // number of stacks that have their guard page
  int counted_ = 0;  // by guard
  int* free_;
  unsigned free_count_;
};

}  // namespace emu
