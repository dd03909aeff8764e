package executions

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Others returns the number of cells and goroutines of cells that run. All reports whether nothing
// else can run code of cells: no function is scheduled for later, and compiled code has started no
// goroutines. Abandoned compiled calls do not count, because their goroutines end with them. Others
// may be called at any time, and costs as much as Doing.
func (es *Executions) Others() (running int, all bool) {
	running = es.Running()
	if es.postponed.Load() > 0 {
		return running, false
	}
	dump := allStacks()
	return running, len(dump) < dumpSize && !hasForeign(string(dump))
}

// activeBeside reports whether another goroutine of cells than the given one is active: it
// computes, sleeps, or is in a system call.
func activeBeside(dump string, id int64) bool {
	own := "goroutine " + strconv.FormatInt(id, 10) + " ["
	for stack := range strings.SplitSeq(dump, "\n\n") {
		if strings.HasPrefix(stack, own) || !strings.Contains(stack, "\ncreated by "+ownPrefix+"(*Executions).Go") {
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

// createdBy matches the line of a stack that names the function that started the goroutine.
var createdBy = regexp.MustCompile(`(?m)^created by (.*?)(?: in goroutine \d+)?$`)

// ownGoroutines are prefixes of functions whose goroutines run no code of cells or are already
// counted: functions of this program, of Go's runtime, of package os/signal, and of tests.
var ownGoroutines = []string{"github.com/symmrepl/symmrepl/", "main.", "runtime.", "runtime/", "os/signal.", "testing."}

// hasForeign reports whether a dump has a goroutine started by any other compiled code. A goroutine
// that package sync started for this program does not count: it is in a function of this program,
// and not in code of cells.
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

// inInterpreter reports whether a stack has a function of the interpreter.
func inInterpreter(stack string) bool {
	return slices.ContainsFunc(interpreterPrefixes, func(prefix string) bool { return strings.Contains(stack, "\n"+prefix) })
}

// ownFrame matches the line of a function of this program in a stack.
var ownFrame = regexp.MustCompile(`(?m)^github\.com/symmrepl/symmrepl/(symmem|session|internal)[/.]`)
