package device

// Recorder is a device that can record when the work of its streams runs.
type Recorder interface {
	// StartRecording begins to record. The streams have nothing to do.
	StartRecording() (Recording, error)
}

// Recording records the activities of one device. Its streams are used by one goroutine at a time
// each.
type Recording interface {
	// Source names the source of the times: "the emulator".
	Source() string
	// Within returns the maximum error of the times against the host's clock, in nanoseconds.
	Within() int64
	// Waits reports whether the waits of kernels are among the activities.
	Waits() bool
	// Issue calls issue, which puts work in the stream, and names the call that it is of by a number;
	// 0 for none, whose work is not recorded.
	Issue(s Stream, call uint64, issue func() error) error
	// End ends the recording. It returns the activities in the order in which they ended, and the
	// number of activities that it did not keep. The streams have nothing to do.
	End() (list []Activity, more int, err error)
}

// ActivityKind is the kind of an [Activity].
type ActivityKind int

// The kinds of activities.
const (
	ActivityKernel ActivityKind = iota
	ActivityCopy
	ActivitySet
	ActivityAwait // a stream waited for a word
	ActivityEvent // a stream waited for an event
	ActivityWait  // a kernel waited, as Wait says
)

// Activity is something that a device did.
type Activity struct {
	Kind        ActivityKind
	Name        string // of a kernel
	Call        uint64 // the number of the call; 0 for ActivityWait, whose Wait has the id of the call
	Begin, End  int64  // nanoseconds by the host's CLOCK_MONOTONIC
	Grid, Block [3]int // of a kernel
	Bytes       int    // of a copy or a fill
	Wait        WaitRecord
}
