package run

import (
	"fmt"
	"runtime"
)

// indexFault panics as Go does for index i of n elements.
func indexFault(i, n int) {
	if i < 0 {
		panic(runtimeError(fmt.Sprintf("runtime error: index out of range [%d]", i)))
	}
	panic(runtimeError(fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, n)))
}

// sliceBounds checks the bounds of a slice expression of an operand with a length and a capacity. The bits of given say which of them there are, and
// whether the operand is a slice.
func sliceBounds(given, length, capacity, low, high, limit int) {
	fail := func(format string, args ...any) {
		panic(runtimeError("runtime error: slice bounds out of range " + fmt.Sprintf(format, args...)))
	}
	what := "length"
	if given&8 != 0 {
		what = "capacity"
	}
	if given&2 == 0 {
		high = length
	}
	if given&4 != 0 {
		switch {
		case limit < 0:
			fail("[::%d]", limit)
		case limit > capacity:
			fail("[::%d] with %s %d", limit, what, capacity)
		case high < 0:
			fail("[:%d:]", high)
		case high > limit:
			fail("[:%d:%d]", high, limit)
		case low < 0:
			fail("[%d::]", low)
		case low > high:
			fail("[%d:%d:]", low, high)
		}
		return
	}
	switch {
	case high < 0:
		fail("[:%d]", high)
	case high > capacity:
		fail("[:%d] with %s %d", high, what, capacity)
	case low < 0:
		fail("[%d:]", low)
	case low > high:
		fail("[%d:%d]", low, high)
	}
}

// States of a range over a function, as its lowered loop numbers them.
const (
	Iterating   = iota // the iterator may call the body
	InBody             // the body runs, or has panicked
	BodyDone           // the body has returned false
	LoopOver           // the iterator has returned
	MissedPanic        // the iterator has returned although the body panicked
)

// misused panics as Go does when an iterator does what it must not in a state.
func misused(state int) {
	panic("runtime error: " + map[int]runtimeError{
		InBody:      "range function continued iteration after loop body panic",
		BodyDone:    "range function continued iteration after function for loop body returned false",
		LoopOver:    "range function continued iteration after whole loop exit",
		MissedPanic: "range function recovered a loop body panic and did not resume panicking",
	}[state])
}

// shiftCount returns the count of a shift, and panics as Go does if it is negative.
func shiftCount(n int64) uint64 {
	if n < 0 {
		panic(runtimeError("runtime error: negative shift amount"))
	}
	return uint64(n)
}

// notNil panics if the interface variable that x points to, which a cell panics with, holds nothing.
func (rt *Runtime) notNil(x any) {
	if rt.isNil(x) {
		panic(new(runtime.PanicNilError))
	}
}
