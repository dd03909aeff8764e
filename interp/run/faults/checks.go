package faults

import (
	"fmt"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Index panics as Go does for index i of n elements.
func Index(i, n int) {
	if i < 0 {
		panic(Error(fmt.Sprintf("runtime error: index out of range [%d]", i)))
	}
	UnsignedIndex(uint64(i), n)
}

// UnsignedIndex is Index for an index of an unsigned type.
func UnsignedIndex(i uint64, n int) {
	panic(Error(fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, n)))
}

// SliceBounds returns the error with which Go panics for the bounds of a slice expression of an
// operand with a length and a capacity, or "" if they are valid. The bits of given say which bounds
// the expression has, whether the operand is a slice, and which bounds are of an unsigned type; a
// negative number in one of those stands for one that is too large.
func SliceBounds(given, length, capacity, low, high, limit int) Error {
	fault := func(format string, args ...any) Error {
		return Error("runtime error: slice bounds out of range " + fmt.Sprintf(format, args...))
	}
	large := func(bit, bound int) bool { return bound < 0 && given&bit != 0 }
	text := func(bit, bound int) any {
		if large(bit, bound) {
			return uint(bound)
		}
		return bound
	}
	what := "length"
	if given&IsSlice != 0 {
		what = "capacity"
	}
	if given&GivenHigh == 0 {
		high = length
	}
	if given&GivenLimit != 0 {
		switch {
		case limit > capacity, large(unsignedLimit, limit):
			return fault("[::%d] with %s %d", text(unsignedLimit, limit), what, capacity)
		case limit < 0:
			return fault("[::%d]", limit)
		case high > limit, large(unsignedHigh, high):
			return fault("[:%d:%d]", text(unsignedHigh, high), limit)
		case high < 0:
			return fault("[:%d:]", high)
		case low > high, large(UnsignedLow, low):
			return fault("[%d:%d:]", text(UnsignedLow, low), high)
		case low < 0:
			return fault("[%d::]", low)
		}
		return ""
	}
	switch {
	case high > capacity, large(unsignedHigh, high):
		return fault("[:%d] with %s %d", text(unsignedHigh, high), what, capacity)
	case high < 0:
		return fault("[:%d]", high)
	case low > high, large(UnsignedLow, low):
		return fault("[%d:%d]", text(UnsignedLow, low), high)
	case low < 0:
		return fault("[%d:]", low)
	}
	return ""
}

// The bits of the first argument of SliceBounds.
const (
	GivenLow   = int(yaegi.Low)
	GivenHigh  = int(yaegi.High)
	GivenLimit = int(yaegi.Limit)
)

const (
	IsSlice = 2 * GivenLimit << iota
	UnsignedLow
	unsignedHigh
	unsignedLimit
)

// Misused panics as Go does when an iterator breaks the rules in the given state.
func Misused(state int) {
	panic("runtime error: " + map[int]Error{
		contract.InBody:      "range function continued iteration after loop body panic",
		contract.BodyDone:    "range function continued iteration after function for loop body returned false",
		contract.LoopOver:    "range function continued iteration after whole loop exit",
		contract.MissedPanic: "range function recovered a loop body panic and did not resume panicking",
	}[state])
}

// ShiftCount returns the count of a shift, and panics as Go does if it is negative.
func ShiftCount(n int64) uint64 {
	if n < 0 {
		panic(Error("runtime error: negative shift amount"))
	}
	return uint64(n)
}
