// emu_once.cpp: the functions that are compiled once for all modules: see emu_once.h.
#undef SYMM_ONCE_ELSEWHERE
#define SYMM_ONCE_HERE
#define CPU_KERNEL(name, ...)
#include "cuda_on_cpu.h"
#include "symm.cuh"
