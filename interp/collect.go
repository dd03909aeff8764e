package interp

import (
	"runtime/debug"
	"runtime/metrics"
)

const (
	// largeCell is the size of a cell, in bytes, from which on the collector waits while it is compiled: smaller ones are done before it would begin.
	largeCell = 4 << 10
	// compilePercent is the garbage collection percentage, GOGC, while a large cell is compiled. Most of what that allocates is garbage at its end.
	compilePercent = 800
)

// collectLater makes the garbage collector begin later until restore is called, unless it does so already. The limit on the memory of the process stays what it is.
func collectLater() (restore func()) {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	if sample[0].Value.Uint64() >= compilePercent { // or off
		return func() {}
	}
	was := debug.SetGCPercent(compilePercent)
	if was == compilePercent { // another session of the process compiles, and restores it
		return func() {}
	}
	return func() {
		if now := debug.SetGCPercent(was); now != compilePercent { // somebody has set it meanwhile
			debug.SetGCPercent(now)
		}
	}
}
