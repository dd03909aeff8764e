#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "api.h"

namespace emu {

namespace {

#ifndef MADV_GUARD_INSTALL
// Linux 6.13, and 6.15 for shared memory: does not divide the mapping
constexpr int MADV_GUARD_INSTALL = 102;
#endif

// A guard page by mprotect costs the process two of its mappings.
constexpr int kMaxProtected = 8192;
std::atomic<int> protected_pages{0};

constexpr std::size_t kAlignment = 256;

std::size_t up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

std::size_t page_size() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

int guard(void* pages, std::size_t bytes) {
  // qemu-user accepts every advice, also one that does not exist, and does nothing
  static const bool advised = madvise(pages, bytes, -1) != 0;
  if (advised && madvise(pages, bytes, MADV_GUARD_INSTALL) == 0) return 0;
  if (protected_pages.fetch_add(1) < kMaxProtected) mprotect(pages, bytes, PROT_NONE);
  return 1;
}

void unguard(int counted) { protected_pages.fetch_sub(counted); }

}  // namespace emu

using namespace emu;

void* emu_alloc(size_t n, int* counted) {
  const std::size_t page = page_size(), bytes = up(n, page);
  void* p = mmap(nullptr, bytes + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(p) + page;
  *counted = guard(p, page) + guard(first + bytes, page);
  return first + bytes - up(n, kAlignment);
}

void emu_free(uintptr_t p, size_t n, int counted) {
  const std::size_t page = page_size(), bytes = up(n, page);
  munmap(reinterpret_cast<void*>(p + up(n, kAlignment) - bytes - page), bytes + 2 * page);
  unguard(counted);
}

int emu_guard(uintptr_t pages, size_t bytes) { return guard(reinterpret_cast<void*>(pages), bytes); }
void emu_unguard(int counted) { unguard(counted); }
