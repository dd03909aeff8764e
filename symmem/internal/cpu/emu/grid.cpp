#include "grid.h"

#include <link.h>

#include <cstdio>

#include "block.h"
#include "device.h"

namespace emu {

Code code_of(const void* address) {
  struct Search {
    std::uintptr_t address;
    Code found;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const auto& h = info->dlpi_phdr[i];
          const std::uintptr_t low = info->dlpi_addr + h.p_vaddr;
          if (h.p_type != PT_LOAD || !(h.p_flags & PF_X) || s->address < low || s->address >= low + h.p_memsz) continue;
          s->found = {low, low + h.p_memsz, info->dlpi_addr};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

SharedNeed shared_of(const Code& code) {
  struct Search {
    std::uintptr_t base;
    SharedNeed found;
  } search{code.base, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        if (info->dlpi_addr != s->base) return 0;
        for (int i = 0; i < info->dlpi_phnum; i++)
          if (const auto& h = info->dlpi_phdr[i]; h.p_type == PT_TLS) s->found = {h.p_memsz - kDynamicShared, h.p_align};
        return 1;
      },
      &search);
  return search.found;
}

std::vector<Span> variables_of(const Code& code) {
  struct Search {
    std::uintptr_t base;
    std::vector<Span> found;
  } search{code.base, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        if (info->dlpi_addr != s->base) return 0;
        for (int i = 0; i < info->dlpi_phnum; i++)
          if (const auto& h = info->dlpi_phdr[i]; h.p_type == PT_LOAD && h.p_flags & PF_W) s->found.push_back({info->dlpi_addr + h.p_vaddr, h.p_memsz});
        return 1;
      },
      &search);
  return search.found;
}

void Grid::enter(Executor& e) {
  e.stop_wanted.store(false);
  e.began.store(began, std::memory_order_relaxed);
  e.shared = e.shared_memory.place(shared, dynamic_shared);
  e.active.store(this, std::memory_order_release);
  e.device->wake_monitor();
}

bool Grid::take(unsigned long long& block) {
  if (stop.load(std::memory_order_relaxed) != Stop::kNo) return false;
  const unsigned long long b = next.fetch_add(1, std::memory_order_relaxed);
  if (b >= blocks) return false;
  block = b + first < blocks ? b + first : b + first - blocks;
  return true;
}

void Grid::work(Executor& e) {
  enter(e);
  for (unsigned long long block; take(block);) e.run(this, block, true);
  e.active.store(nullptr, std::memory_order_release);
}

void Grid::execute(Executor& e) {
  blocks = 1ull * dim.x * dim.y * dim.z;
  began = e.emu::Worker::api->nanos();
  constexpr unsigned long long kWorthHelp = 20000;  // nanoseconds of remaining work
  if (blocks > 1) {
    next.store(1);
    enter(e);
    e.run(this, first, false);
    const unsigned long long left = blocks - next.load();
    if (pending() && (e.emu::Worker::api->nanos() - began) * left > kWorthHelp) e.device->help(*this, e.device->processors - 1);
  }
  work(e);
  e.device->dismiss(*this);
}

void Grid::interrupted(Executor& e, std::uint64_t frame_pointer) {
  if (!fault.claim(e)) return;
  record_frames(e, fault, frame_pointer);
  snprintf(fault.text, sizeof fault.text, "interrupted");
}

}  // namespace emu
