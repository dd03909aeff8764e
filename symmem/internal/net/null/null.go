package null

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror=implicit-function-declaration
#cgo LDFLAGS: -lpthread
#include "null.h"

static const void *transport(void) { return &net_null; }
*/
import "C"

import (
	"math"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/net/proxy"
)

// Settings set the null network's delays and losses of the messages that a rank sends.
type Settings struct {
	Delay     time.Duration // of each message
	Bandwidth float64       // bytes a second to each peer; 0 for no limit
	// each message takes up to Delay longer, but at least up to 100 µs, at random, so that messages
	// overtake each other
	Reorder bool
	Drop    float64 // fraction of messages that are lost, from 0 to 1
	Seed    uint64  // of the random decisions
}

// Transport returns the provider's table of functions.
func Transport() unsafe.Pointer { return unsafe.Pointer(C.transport()) }

// Tune changes the settings of a proxy over this network.
func Tune(p *proxy.Proxy, s Settings) error {
	c := C.net_null_settings{
		delay:     C.uint64_t(max(s.Delay, 0)),
		bandwidth: C.uint64_t(max(s.Bandwidth, 0)),
		drop:      C.uint32_t(min(max(s.Drop, 0)*(1<<32), math.MaxUint32)),
		seed:      C.uint64_t(s.Seed),
	}
	if s.Reorder {
		c.reorder = 1
	}
	return p.Tune(unsafe.Pointer(&c))
}
