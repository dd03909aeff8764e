// shared.h: the shared memory of the blocks of one executor.
//
// It ends where nobody may be, but for what fills up the alignment, and begins behind a part where nobody may be either: an index out of bounds faults, or changes what belongs
// to no one. Around that lies more of nobody's, which is not taken for shared memory: the kernel likes to map areas side by side, and what goes far behind a tensor's memory
// is not to be told as an index into shared memory.
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
  // kMargin is how many bytes lie around that.
  static constexpr std::size_t kMargin = 16 << 20;

  Shared() = default;
  ~Shared();
  Shared(const Shared&) = delete;

  // place returns where a block is to have it, with so many bytes of dynamic shared memory behind what its module declares.
  char* place(const SharedNeed&, std::size_t dynamic);

  // contains tells whether an address is in it, or where nobody may be for its sake.
  bool contains(std::uintptr_t a) const { return bytes_ && a - base_ < bytes_ + 2 * kBeyond; }

 private:
  std::size_t room() const { return bytes_ + 2 * (kBeyond + kMargin); }

  std::uintptr_t base_ = 0;  // [nobody | bytes_ | nobody], within the margins
  std::size_t bytes_ = 0;
};

}  // namespace emu
