package contract

// States of a range over a function, as its lowered loop numbers them.
const (
	Iterating   = iota // the iterator may call the body
	InBody             // the body runs, or has panicked
	BodyDone           // the body has returned false
	LoopOver           // the iterator has returned
	MissedPanic        // the iterator has returned although the body panicked
)
