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
	unsignedIndexFault(uint64(i), n)
}

// unsignedIndexFault does it for an index of an unsigned type.
func unsignedIndexFault(i uint64, n int) {
	panic(runtimeError(fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, n)))
}

// sliceBounds checks the bounds of a slice expression of an operand with a length and a capacity. The bits of given say which of them there are,
// whether the operand is a slice, and which bounds are of an unsigned type: of those a negative one is too large.
func sliceBounds(given, length, capacity, low, high, limit int) {
	fail := func(format string, args ...any) {
		panic(runtimeError("runtime error: slice bounds out of range " + fmt.Sprintf(format, args...)))
	}
	large := func(bit, bound int) bool { return bound < 0 && given&bit != 0 }
	text := func(bit, bound int) any {
		if large(bit, bound) {
			return uint(bound)
		}
		return bound
	}
	what := "length"
	if given&isSlice != 0 {
		what = "capacity"
	}
	if given&2 == 0 {
		high = length
	}
	if given&4 != 0 {
		switch {
		case limit > capacity, large(UnsignedLimit, limit):
			fail("[::%d] with %s %d", text(UnsignedLimit, limit), what, capacity)
		case limit < 0:
			fail("[::%d]", limit)
		case high > limit, large(UnsignedHigh, high):
			fail("[:%d:%d]", text(UnsignedHigh, high), limit)
		case high < 0:
			fail("[:%d:]", high)
		case low > high, large(UnsignedLow, low):
			fail("[%d:%d:]", text(UnsignedLow, low), high)
		case low < 0:
			fail("[%d::]", low)
		}
		return
	}
	switch {
	case high > capacity, large(UnsignedHigh, high):
		fail("[:%d] with %s %d", text(UnsignedHigh, high), what, capacity)
	case high < 0:
		fail("[:%d]", high)
	case low > high, large(UnsignedLow, low):
		fail("[%d:%d]", text(UnsignedLow, low), high)
	case low < 0:
		fail("[%d:]", low)
	}
}

// isSlice is the bit of sliceBounds for slices.
const isSlice = 8

// The bits of sliceBounds for bounds of unsigned types.
const (
	UnsignedLow = 16 << iota
	UnsignedHigh
	UnsignedLimit
)

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
