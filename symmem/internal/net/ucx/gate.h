#ifndef NET_UCX_GATE_H
#define NET_UCX_GATE_H

#include <stdint.h>

#include "../proxy/transport.h"

// gate_build installs the gate in libucs, the library that contains the function at an address. It
// returns 0, or 1 and the reason. No connection passes before gate_open.
int gate_build(void *inside, char why[NET_WHY]);

// gate_open sets the secret by which ranks recognise each other from now on.
void gate_open(uint64_t secret);

// gate_strangers returns the number of refused connections.
uint64_t gate_strangers(void);

#endif
