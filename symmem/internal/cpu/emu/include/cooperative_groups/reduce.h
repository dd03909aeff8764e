// cooperative_groups/reduce.h for the cpu device.
#pragma once

#include "../cooperative_groups.h"
