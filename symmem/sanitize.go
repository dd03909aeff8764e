package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// A Finding is something that kernels or the host do wrong: see [Runtime.Sanitize]. Its Kind prints
// as "race between ranks". It has the accesses, the later one first; whose memory that is; what
// orders the accesses and what is missing; and what to change.
type Finding = device.Finding

// An Access is one of the accesses of a [Finding].
type Access = device.Access
