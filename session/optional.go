package session

// The interfaces in this file are optional for a Communicator or an Evaluator. The session tests
// for each interface where it needs it, and works without the feature if it is missing, as on ranks
// of simulations. A type that implements one asserts that at compile time: if a method is renamed
// or changes its signature, the program does not compile, instead of silently losing the feature.

// DeviceNamer is a Communicator that describes its device to the user.
type DeviceNamer interface {
	// DeviceName returns RankInfo.Device. Without this interface that is Config.Device.
	DeviceName() string
}

// SharingReporter is a Communicator whose ranks may share devices.
type SharingReporter interface {
	// Sharers lists the ranks that share this rank's device, itself included; nil if the device is
	// not shared. It may be called at any time.
	Sharers() []int
	// Note returns a sentence about the sharing for the user, "" if there is nothing to say. The
	// session shows rank 0's note once, at the start.
	Note() string
}

// ProgressReporter is a Communicator that reports the progress of its rank. Without it no rank
// counts as standing still, so no deadlock is found.
type ProgressReporter interface {
	// Progress may be called at any time.
	Progress() Progress
}

// WaitEnder is a Communicator that distinguishes waits ended as a deadlock from waits ended for
// another reason.
type WaitEnder interface {
	// EndWaits is Abort, but the errors of the waits are of KindDeadlock.
	EndWaits(why string)
}

// KernelReporter is a Communicator that reports the user's kernels that run.
type KernelReporter interface {
	// Busy lists the kernels that have run for a while. It may be called at any time.
	Busy() []Busy
}

// Confiner is a Communicator that refuses, in a cell that runs on some ranks, the collective calls
// that need others.
type Confiner interface {
	// Confine is called before Begin, with the ranks that run the cell, nil for all. It holds until
	// Finish returns.
	Confine(ranks []int)
}

// CellCommunicator is a Communicator that remembers the calls of cells by the cells' numbers.
type CellCommunicator interface {
	// BeginCell is called before Begin, with the number of the cell, 0 if it is silent.
	BeginCell(cell int)
}

// SanitizingCommunicator is a Communicator with a sanitizer. Without it a cell with Sanitize fails.
type SanitizingCommunicator interface {
	// Sanitize switches the sanitizer on or off. It is collective over all ranks.
	Sanitize(Sanitizing) *Error
	// Sanitizing returns the sanitizer's state.
	Sanitizing() Sanitizing
}

// ActivityReporter is an Evaluator that reports the activity of a cell's code while the code waits
// in no operation of the Communicator. Without it the session cannot explain a rank on which
// nothing happens, and never counts such a rank as standing still.
type ActivityReporter interface {
	// Doing returns the activity of the cell. It may be called at any time while Eval runs.
	Doing() Activity
	// Others counts the cells and goroutines of cells that run; all means that no other code can
	// run code of cells. It may be called at any time.
	Others() (running int, all bool)
}

// DebuggedEvaluator is an Evaluator whose cells can be debugged: the goroutines of a cell with
// Cell.Debugged can stand before its statements. Its methods may be called at any time.
type DebuggedEvaluator interface {
	// OnStop is called once, before the first cell. When a goroutine begins to stand, it calls
	// stopped, which returns soon.
	OnStop(stopped func(StopReason, Place))
	// Break replaces the breakpoints in cells, by their numbers, of which some may not have begun. A
	// breakpoint is effective on the first line with a statement from its own on.
	Break(lines map[int][]int)
	// Resume makes the goroutine that stands go on, if one does.
	Resume(how Resume)
	// Pause makes the goroutine stand that is the first to reach a statement.
	Pause()
	// LeaveDebugger removes all breakpoints, ends a step or a pause, and makes the goroutine that
	// stands go on.
	LeaveDebugger()
}

// LateCallReporter is an Evaluator that abandons compiled calls that do not return when their cell
// is interrupted.
type LateCallReporter interface {
	// Calls lists the calls that have not returned yet. It may be called at any time.
	Calls() []LateCall
}
