#ifndef NET_UCX_GATE_H
#define NET_UCX_GATE_H

#include <stdint.h>

#include "../proxy/transport.h"

// gate_build puts the gate into libucs, the library that has the function at an address; 0, or 1 and the reason. Nobody passes until gate_open.
int gate_build(void *inside, char why[NET_WHY]);

// gate_open says by which secret ranks know each other from now on.
void gate_open(uint64_t secret);

// gate_strangers is how many connections were turned away.
uint64_t gate_strangers(void);

#endif
