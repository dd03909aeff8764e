package run

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Others returns how many cells and goroutines of cells run, and whether that is all that can run code of cells: nothing is left to be done at a later time, and no
// compiled code has goroutines of its own. A compiled call that was abandoned ends with its goroutine, and does not count. It may be called at any time, and costs
// what Doing does.
func (rt *Runtime) Others() (running int, all bool) {
	running = rt.Running()
	if rt.postponed.Load() > 0 {
		return running, false
	}
	dump := allStacks()
	return running, len(dump) < dumpSize && !hasForeign(string(dump))
}

// activeBeside reports whether a goroutine of cells other than that of an id does not wait for another one: it computes, sleeps, or is in a call of the system.
func activeBeside(dump string, id int64) bool {
	own := "goroutine " + strconv.FormatInt(id, 10) + " ["
	for stack := range strings.SplitSeq(dump, "\n\n") {
		if strings.HasPrefix(stack, own) || !strings.Contains(stack, "\ncreated by "+ownPrefix+"(*Runtime).goRun") {
			continue
		}
		_, state, _ := strings.Cut(stack, "[")
		state, _, _ = strings.Cut(state, "]")
		state, _, _ = strings.Cut(state, ",")
		switch state {
		case "running", "runnable", "syscall", "IO wait", "sleep":
			return true
		}
		if strings.Contains(stack, "\n"+sleepFrame+"(") {
			return true
		}
	}
	return false
}

// createdBy is the line of a stack that names the function in which the goroutine was started.
var createdBy = regexp.MustCompile(`(?m)^created by (.*?)(?: in goroutine \d+)?$`)

// ownGoroutines are the beginnings of names of functions that start goroutines which run no code of cells, or are counted when they do: those of this program, Go's
// runtime and what package os/signal keeps, and the test of a package.
var ownGoroutines = []string{"github.com/symmrepl/symmrepl/", "main.", "runtime.", "runtime/", "os/signal.", "testing."}

// hasForeign reports whether a dump has a goroutine that compiled code of somebody else has started. One that package sync has started for this program is in a
// function of it, and in no code of cells.
func hasForeign(dump string) bool {
	for stack := range strings.SplitSeq(dump, "\n\n") {
		m := createdBy.FindStringSubmatch(stack)
		own := m == nil
		for _, prefix := range ownGoroutines {
			own = own || strings.HasPrefix(m[1], prefix)
		}
		if !own && !(strings.HasPrefix(m[1], "sync.") && ownFrame.MatchString(stack) && !inInterpreter(stack)) {
			return true
		}
	}
	return false
}

// inInterpreter reports whether a stack has a function by which cells are run.
func inInterpreter(stack string) bool {
	return slices.ContainsFunc(interpreterPrefixes, func(prefix string) bool { return strings.Contains(stack, "\n"+prefix) })
}

// ownFrame is the line of a function of this program in a stack.
var ownFrame = regexp.MustCompile(`(?m)^github\.com/symmrepl/symmrepl/(symmem|session|internal)[/.]`)
