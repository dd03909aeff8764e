// emu_once.h: functions of headers that are compiled once for all modules.
//
// The functions by which kernels wait and reach other hosts are many times as long as most kernels. If
// each unit contained them, the compiler would spend three quarters of its time on them. So the unit of a
// module is compiled with SYMM_ONCE_ELSEWHERE, which leaves their definitions out, and the module is
// linked with the object of emu_once.cpp. A unit without SYMM_ONCE_ELSEWHERE contains those that it uses.
#pragma once

// EMU_ONCE marks such a function, where it is defined.
#ifdef SYMM_ONCE_HERE
#define EMU_ONCE __attribute__((noinline, used)) inline
#else
#define EMU_ONCE __attribute__((noinline)) inline
#endif
