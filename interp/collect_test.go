package interp

import (
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
)

// percent returns the garbage collection percentage.
func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestCollectLater checks that garbage collection is delayed only while a large cell is compiled,
// and that a percentage set by other code is kept.
func TestCollectLater(t *testing.T) {
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	restore := collectLater()
	if got := percent(); got != compilePercent {
		t.Errorf("while a cell is compiled, the percentage is %d, not %d", got, compilePercent)
	}
	collectLater()() // of another session
	if got := percent(); got != compilePercent {
		t.Errorf("after another session has compiled a cell, the percentage is %d, not %d", got, compilePercent)
	}
	restore()
	if got := percent(); got != 100 {
		t.Errorf("when a cell is compiled, the percentage is %d, not 100", got)
	}

	restore = collectLater()
	debug.SetGCPercent(50)
	restore()
	if got := percent(); got != 50 {
		t.Errorf("the percentage that somebody set meanwhile is %d, not 50", got)
	}
	debug.SetGCPercent(-1)
	collectLater()()
	if got := debug.SetGCPercent(100); got != -1 {
		t.Errorf("a collector that was off has the percentage %d", got)
	}

	in := open(t, Options{})
	src := "import \"runtime/metrics\"\ns := []metrics.Sample{{Name: \"/gc/gogc:percent\"}}\nmetrics.Read(s)\ns[0].Value.Uint64() //" + strings.Repeat("-", largeCell)
	if got := mustEval(t, in, src); got != "100" {
		t.Errorf("a large cell runs with the percentage %s, not 100", got)
	}
}
