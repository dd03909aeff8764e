#include "shared.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "memory.h"

namespace emu {

Shared::~Shared() {
  if (bytes_) munmap(reinterpret_cast<void*>(base_ - kMargin), room());
}

char* Shared::place(const SharedNeed& need, std::size_t dynamic) {
  const std::size_t used = need.bytes + dynamic, all = used + need.alignment;
  if (all > bytes_) {
    if (bytes_) munmap(reinterpret_cast<void*>(base_ - kMargin), room());
    bytes_ = (all + page_size() - 1) / page_size() * page_size();
    void* p = mmap(nullptr, room(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED || mprotect(static_cast<char*>(p) + kMargin + kBeyond, bytes_, PROT_READ | PROT_WRITE) != 0) {
      std::fputs("symmrepl: no address space for the shared memory of a thread block\n", stderr);
      std::abort();
    }
    base_ = reinterpret_cast<std::uintptr_t>(p) + kMargin;
  }
  return reinterpret_cast<char*>((base_ + kBeyond + bytes_ - used) / need.alignment * need.alignment);
}

}  // namespace emu
