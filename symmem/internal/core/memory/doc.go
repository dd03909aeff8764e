// Package memory keeps account of a rank's device memory: where the parts of a symmetric tensor lie
// in a segment ([Placement]), which tensor lies at an address ([Locations]), ordinary memory
// between its uses ([Cache]), and symmetric memory between its uses ([Pool]).
//
// A block of ordinary memory is taken from the cache or from the device, holds a tensor, and comes
// back by Free or by the garbage collector, which runs in a goroutine of its own: so a Cache and
// Locations each have a lock, which is held for a moment and under which no other lock is taken
// except by the cache's owner, to find out whether a block is at rest. Core owns the memory, orders
// its use on streams, and reports it to the sanitizer.
package memory
