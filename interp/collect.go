package interp

import (
	"runtime/debug"
	"runtime/metrics"
)

const (
	// largeCell is the size of a cell, in bytes, from which on garbage collection is delayed while
	// the cell is compiled. A smaller cell is compiled before a collection would begin.
	largeCell = 4 << 10
	// compilePercent is the garbage collection percentage, GOGC, while a large cell is compiled.
	// Most of the memory allocated meanwhile is garbage at the end.
	compilePercent = 800
)

// collectLater delays garbage collection until restore is called, unless it is already delayed or
// off. The process's memory limit does not change.
func collectLater() (restore func()) {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	if sample[0].Value.Uint64() >= compilePercent { // or off
		return func() {}
	}
	was := debug.SetGCPercent(compilePercent)
	if was == compilePercent { // another session of the process is compiling, and restores it
		return func() {}
	}
	return func() {
		// other code has set it meanwhile
		if now := debug.SetGCPercent(was); now != compilePercent {
			debug.SetGCPercent(now)
		}
	}
}
