package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// A Finding is something that kernels or the host do wrong: see [Runtime.Sanitize]. Its Kind prints
// as "race between ranks". It has the accesses, the later one first; the rank that owns the memory;
// the order of the accesses and the order that is missing; and the repair.
type Finding = device.Finding

// An Access is one of the accesses of a [Finding].
type Access = device.Access
