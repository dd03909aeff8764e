// current.h: a pointer that threads replace while others read it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace emu {

// Current holds a shared pointer, null at first. It stands for std::atomic<std::shared_ptr<T>>, which the library of clang does not have.
template <class T>
class Current {
 public:
  std::shared_ptr<T> load() const {
    std::lock_guard lock(mutex_);
    return pointer_;
  }
  // store replaces the pointer. If nothing else holds the old object, it ends when the lock is free again.
  void store(std::shared_ptr<T> p) {
    std::lock_guard lock(mutex_);
    pointer_.swap(p);
  }

 private:
  mutable std::mutex mutex_;  // guards the pointer
  std::shared_ptr<T> pointer_;
};

}  // namespace emu
