// contract.h: on aarch64, compilers would contract a product and a sum to one operation with one rounding. They are kept apart, so that results are
// those of x86-64. Go refuses the option -ffp-contract.
#pragma once

#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__aarch64__)
#pragma GCC optimize("fp-contract=off")
#endif
