#include "stacks.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emu {

namespace {

#ifndef MADV_GUARD_INSTALL
constexpr int MADV_GUARD_INSTALL = 102;  // Linux 6.13: a guard page that does not split the mapping
#endif

// A guard page by mprotect costs the process two of its 65530 mappings.
constexpr int kMaxProtected = 8192;
std::atomic<int> protected_pages{0};

}  // namespace

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
  protected_pages.fetch_sub(protected_);
}

void Stacks::reset() {
  for (unsigned i = 0; i < count_; i++) free_[i] = static_cast<int>(count_ - 1 - i);
  free_count_ = count_;
}

void Stacks::guard(int s) {
  used_ = s + 1;
  void* page = reinterpret_cast<void*>(base_ + s * kStride);
  if (madvise(page, kPage, MADV_GUARD_INSTALL) == 0) return;
  if (protected_pages.fetch_add(1) < kMaxProtected) mprotect(page, kPage, PROT_NONE);
  protected_++;
}

void* Stacks::prepare(int s, void (*entry)()) {
  std::uintptr_t top = base_ + (s + 1) * kStride - 64 - (s % 61) * 64;
  // As emu_switch leaves it: six registers, the address to go to, and a null return address for it.
  std::uintptr_t* sp = reinterpret_cast<std::uintptr_t*>(top) - 8;
  std::memset(sp, 0, 8 * sizeof *sp);
  sp[6] = reinterpret_cast<std::uintptr_t>(entry);
  return sp;
}

}  // namespace emu
