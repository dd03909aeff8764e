package watchdog

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// Joined combines two remarks about a rank. Either may be "".
func Joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// DescribeWaits describes a rank's waits, without times: "waits in wait_signal #14 at cell[8]:1 for
// rank 1: a signal on channel 3".
func DescribeWaits(waits []session.Wait) string {
	var parts []string
	for _, w := range waits {
		s := "waits in " + w.Op
		if w.Ordinal > 0 {
			s += fmt.Sprintf(" #%d", w.Ordinal)
		}
		if w.Group != "" && w.Group != "world" {
			s += " of " + w.Group
		}
		if w.At != "" {
			s += " at " + w.At
		}
		if len(w.Peers) > 0 {
			s += " for rank " + session.FormatRanks(w.Peers)
		}
		if w.For != "" {
			s += ": " + w.For
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// DescribeBusy describes the running kernels, without times: "busy in kernel ar, launched at
// cell[3]:7".
func DescribeBusy(list []session.Busy) string {
	var parts []string
	for _, b := range list {
		s := "busy in kernel " + b.Kernel
		if b.At != "" {
			s += ", launched at " + b.At
		}
		if b.Spins != "" {
			s += ": it reads nothing but " + b.Spins
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// lastCalls describes the last calls of a finished rank in the groups in which other ranks wait in
// a numbered call. If the calls differ, that is why the others wait.
func lastCalls(tallies []session.Tally, awaited map[string]bool) string {
	text := ""
	for _, t := range tallies {
		if !awaited[t.Group] {
			continue
		}
		text += fmt.Sprintf("; its last call in %s is #%d, %s", t.Group, t.Calls, t.Last)
		if t.At != "" {
			text += " at " + t.At
		}
	}
	return text
}
