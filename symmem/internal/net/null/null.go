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

// Settings are what the messages that a rank sends go through.
type Settings struct {
	Delay     time.Duration // that each message takes
	Bandwidth float64       // bytes a second to each peer; 0 for no limit
	Reorder   bool          // messages take up to Delay longer, 100 µs at least, as chance decides, and overtake each other
	Drop      float64       // the share of messages that are lost, from 0 to 1
	Seed      uint64        // of what chance decides
}

// Transport is the table of the provider's functions.
func Transport() unsafe.Pointer { return unsafe.Pointer(C.transport()) }

// Tune gives a proxy over this network other settings.
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
