// layout.h: tables of the declarations that Go repeats, built by SYMM_LAYOUT and SYMM_VALUES in the
// kernels.
#pragma once
#include "emu_launch.h"

namespace layout {

// Item is a field of a struct, or a constant of a group.
struct Item {
  const char* name;
  unsigned long long offset_or_value, size;
};

// Table is a struct, or a group of constants, whose size is 0.
struct Table {
  const char* name;
  unsigned long long size, count;
  const Item* items;
  const Table* next;
};

inline const Table* tables = nullptr;

struct Registration {
  Table table;
  template <unsigned N>
  Registration(const char* name, unsigned long long size, const Item (&items)[N]) : table{name, size, N, items, tables} { tables = &table; }
};

}  // namespace layout

// LAYOUT_EACH(M, a, x, y...) is M(a, x), M(a, y), ...: each round of expansion takes one argument.
#define LAYOUT_EXPAND(...) LAYOUT_EXPAND1(LAYOUT_EXPAND1(LAYOUT_EXPAND1(__VA_ARGS__)))
#define LAYOUT_EXPAND1(...) LAYOUT_EXPAND2(LAYOUT_EXPAND2(LAYOUT_EXPAND2(__VA_ARGS__)))
#define LAYOUT_EXPAND2(...) LAYOUT_EXPAND3(LAYOUT_EXPAND3(LAYOUT_EXPAND3(__VA_ARGS__)))
#define LAYOUT_EXPAND3(...) __VA_ARGS__
#define LAYOUT_NONE ()
#define LAYOUT_STEP(M, a, x, ...) M(a, x) __VA_OPT__(, LAYOUT_AGAIN LAYOUT_NONE(M, a, __VA_ARGS__))
#define LAYOUT_AGAIN() LAYOUT_STEP
#define LAYOUT_EACH(...) LAYOUT_EXPAND(LAYOUT_STEP(__VA_ARGS__))

#define LAYOUT_FIELD(type, field) {#field, __builtin_offsetof(type, field), sizeof(((type*)0)->field)}
#define LAYOUT_VALUE(group, constant) {#constant, (unsigned long long)(constant), 0}

#define LAYOUT_TABLE(name, size, id, ...)                       \
  static const ::layout::Item EMU_JOIN(items_, id)[] = {__VA_ARGS__}; \
  static const ::layout::Registration EMU_JOIN(table_, id)(name, size, EMU_JOIN(items_, id));
#define SYMM_LAYOUT(type, ...) LAYOUT_TABLE(#type, sizeof(type), __COUNTER__, LAYOUT_EACH(LAYOUT_FIELD, type, __VA_ARGS__))
#define SYMM_VALUES(group, ...) LAYOUT_TABLE(#group, 0, __COUNTER__, LAYOUT_EACH(LAYOUT_VALUE, group, __VA_ARGS__))
