#include "stacks.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "machine.h"
#include "memory.h"

namespace emu {

namespace {

constexpr std::size_t kBytes = 128 << 10;  // of a stack; pages have up to 64 KiB

}  // namespace

Stacks::Stacks(unsigned count) : stride_(page_size() + kBytes), count_(count), free_(new int[count]) {
  void* p = mmap(nullptr, count * stride_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fputs("symmrepl: no address space for the stacks of a thread block\n", stderr);
    std::abort();
  }
  base_ = reinterpret_cast<std::uintptr_t>(p);
  reset();
}

Stacks::~Stacks() {
  munmap(reinterpret_cast<void*>(base_), count_ * stride_);
  delete[] free_;
  unguard(counted_);
}

void Stacks::reset() {
  for (unsigned i = 0; i < count_; i++) free_[i] = static_cast<int>(count_ - 1 - i);
  free_count_ = count_;
}

void Stacks::guard(int s) {
  used_ = s + 1;
  counted_ += emu::guard(reinterpret_cast<void*>(base_ + s * stride_), page_size());
}

void* Stacks::prepare(int s, void (*entry)()) {
  return machine::prepare(base_ + (s + 1) * stride_ - 64 - (s % 61) * 64, entry);
}

}  // namespace emu
