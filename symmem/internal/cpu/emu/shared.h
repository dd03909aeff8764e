// shared.h: the shared memory of the blocks of one executor.
//
// It ends where nobody may be, but for what fills up the alignment, and begins behind a part where nobody may be either: an index out of bounds faults, or changes what belongs
// to no one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

// SharedNeed is what a module declares, and to which multiple.
struct SharedNeed {
  std::size_t bytes = 0, alignment = 1;
};

class Shared {
 public:
  // kBeyond is how many bytes before and behind it nobody else has: more than a block can ask for.
  static constexpr std::size_t kBeyond = 1 << 20;

  Shared() = default;
  ~Shared();
  Shared(const Shared&) = delete;

  // place returns where a block is to have it, with so many bytes of dynamic shared memory behind what its module declares.
  char* place(const SharedNeed&, std::size_t dynamic);

  // contains tells whether an address is in it, or where nobody may be for its sake.
  bool contains(std::uintptr_t a) const { return bytes_ && a - base_ < bytes_ + 2 * kBeyond; }

 private:
  std::uintptr_t base_ = 0;  // [nobody | bytes_ | nobody]
  std::size_t bytes_ = 0;
};

}  // namespace emu
