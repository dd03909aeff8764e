package session

// The interfaces of this file are what a Communicator or an Evaluator may implement besides. The session asks for each where it needs it, and does without
// what it is for where that is missing, as ranks of simulations do. Who implements one asserts it at compile time, so that a method that is renamed or changes its
// signature does not compile, instead of being asked for in vain.

// DeviceNamer is a Communicator that describes its device to the user.
type DeviceNamer interface {
	// DeviceName is RankInfo.Device. Without it that is Config.Device.
	DeviceName() string
}

// SharingReporter is a Communicator whose ranks may share devices.
type SharingReporter interface {
	// Sharers lists the ranks that use this one's device, this one among them; nil if it has one of its own. It may be called at any time.
	Sharers() []int
	// Note is a sentence about that for the user, "" if there is nothing to say. Rank 0 tells it once, at the start.
	Note() string
}

// ProgressReporter is a Communicator that tells how far its rank has come. Without it no rank is said to stand still, so that no deadlock is found.
type ProgressReporter interface {
	// Progress may be called at any time.
	Progress() Progress
}

// WaitEnder is a Communicator that tells waits that were ended because they cannot end by themselves from those that were ended for another reason.
type WaitEnder interface {
	// EndWaits is Abort, but the errors of the waits are of KindDeadlock.
	EndWaits(why string)
}

// KernelReporter is a Communicator that tells which kernels of the user's run.
type KernelReporter interface {
	// Busy lists those that have run for a while. It may be called at any time.
	Busy() []Busy
}

// Confiner is a Communicator that refuses, in a cell that runs on some ranks, the collective calls that need others.
type Confiner interface {
	// Confine is called before Begin, with the ranks that run the cell, nil for all. It holds until Finish returns.
	Confine(ranks []int)
}

// SanitizingCommunicator is a Communicator that can look at what kernels do. Without it a cell with Sanitize fails.
type SanitizingCommunicator interface {
	// Sanitize has it do so from now on, or no longer. It is collective over all ranks.
	Sanitize(Sanitizing) *Error
	// Sanitizing says whether it does.
	Sanitizing() Sanitizing
}

// ActivityReporter is an Evaluator that tells what code of cells does while it waits in no operation of the Communicator. Without it the session cannot say
// why nothing happens there, and does not take the rank to stand still.
type ActivityReporter interface {
	// Doing is what the cell does. It may be called at any time while Eval runs.
	Doing() Activity
	// Others counts the cells and goroutines of cells that run; all says that nothing else can run code of cells. It may be called at any time.
	Others() (running int, all bool)
}

// LateCallReporter is an Evaluator that leaves compiled calls behind which do not return when their cell is interrupted.
type LateCallReporter interface {
	// Calls lists those that have not returned yet. It may be called at any time.
	Calls() []LateCall
}
