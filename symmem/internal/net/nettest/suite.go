package nettest

import (
	"testing"
)

// scenarios are the functions that ranks run, by name.
var scenarios = map[string]func(*Rank){
	"sizes":     sizes,
	"blocks":    blocks,
	"words":     words,
	"self":      self,
	"order":     order,
	"seeds":     seeds,
	"fences":    fences,
	"stream":    stream,
	"many":      many,
	"garbage":   garbage,
	"kill":      kill,
	"stop":      stop,
	"epochs":    epochs,
	"expect":    expect,
	"hold":      hold,
	"values":    values,
	"atomics":   atomics,
	"leaks":     leaks,
	"late":      late,
	"direct":    direct,
	"untouched": untouched,
	"lossy":     lossy,
	"slow":      slow,
	"perf":      perf,
}

// Run runs the suite; in short mode it skips scenarios that take seconds.
func Run(t *testing.T, o Options) {
	for _, s := range []struct {
		name  string
		ranks int
	}{
		{"sizes", 2}, {"blocks", 2}, {"words", 2}, {"self", 1}, {"order", 2}, {"fences", 3}, {"stream", 2}, {"many", 8}, {"garbage", 3},
		{"kill", 3}, {"stop", 3}, {"epochs", 3}, {"expect", 2}, {"hold", 2}, {"values", 2}, {"atomics", 2}, {"leaks", 2},
		{"late", 2}, {"direct", 2}, {"untouched", 2},
	} {
		if testing.Short() && (s.name == "stop" || s.name == "leaks" || s.name == "untouched") {
			continue
		}
		t.Run(s.name, func(t *testing.T) { o.Scenario(t, s.name, s.ranks) })
	}
}
