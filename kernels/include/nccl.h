// nccl.h: the part of NCCL's host header that device code uses.
#pragma once
#include "nccl/types.h"
