// nvshmemx.h: NVSHMEM's extensions, the functions that a warp or a block calls together, which
// nvshmem.h declares beside the others.
#pragma once
#include "nvshmem.h"
