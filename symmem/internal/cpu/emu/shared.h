// shared.h: the shared memory of the blocks of one executor.
//
// It ends at an inaccessible area, except for alignment, and begins after another one: an index out
// of bounds faults, or changes bytes that belong to no one. Around these areas are margins that
// also belong to no one but do not count as shared memory. The kernel tends to map areas next to
// each other, and an access far beyond a tensor must not be reported as an index into shared
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

// SharedNeed is the shared memory that a module declares, and its alignment.
struct SharedNeed {
  std::size_t bytes = 0, alignment = 1;
};

class Shared {
 public:
  // kBeyond is the size in bytes of the inaccessible areas before and after it: more than a block
  // can ask for.
  static constexpr std::size_t kBeyond = 1 << 20;
  // kMargin is the size in bytes of each margin.
  static constexpr std::size_t kMargin = 16 << 20;

  Shared() = default;
  ~Shared();
  Shared(const Shared&) = delete;

  // place returns a block's shared memory, with so many bytes of dynamic memory after the declared
  // part.
  char* place(const SharedNeed&, std::size_t dynamic);

  // contains reports whether an address is in the memory or its inaccessible areas.
  bool contains(std::uintptr_t a) const { return bytes_ && a - base_ < bytes_ + 2 * kBeyond; }

 private:
  std::size_t room() const { return bytes_ + 2 * (kBeyond + kMargin); }

  std::uintptr_t base_ = 0;  // [inaccessible | bytes_ | inaccessible], within the margins
  std::size_t bytes_ = 0;
};

}  // namespace emu
