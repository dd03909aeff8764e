#include "stacks.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory.h"

namespace emu {

Stacks::Stacks(unsigned count) : count_(count), free_(new int[count]) {
  void* p = mmap(nullptr, count * kStride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fputs("symmrepl: no address space for the stacks of a thread block\n", stderr);
    std::abort();
  }
  base_ = reinterpret_cast<std::uintptr_t>(p);
  reset();
}

Stacks::~Stacks() {
  munmap(reinterpret_cast<void*>(base_), count_ * kStride);
  delete[] free_;
  unguard(counted_);
}

void Stacks::reset() {
  for (unsigned i = 0; i < count_; i++) free_[i] = static_cast<int>(count_ - 1 - i);
  free_count_ = count_;
}

void Stacks::guard(int s) {
  used_ = s + 1;
  counted_ += emu::guard(reinterpret_cast<void*>(base_ + s * kStride), kPage);
}

void* Stacks::prepare(int s, void (*entry)()) {
  std::uintptr_t top = base_ + (s + 1) * kStride - 64 - (s % 61) * 64;
  // As emu_switch leaves it: six registers, the address to continue at, and a null return address.
  std::uintptr_t* sp = reinterpret_cast<std::uintptr_t*>(top) - 8;
  std::memset(sp, 0, 8 * sizeof *sp);
  sp[6] = reinterpret_cast<std::uintptr_t>(entry);
  return sp;
}

}  // namespace emu
