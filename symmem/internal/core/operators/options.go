package operators

import "strings"

// Options is a set of sorts of options.
type Options uint32

// The sorts.
const (
	Group Options = 1 << iota
	Stream
	Timeout
	AccumulateF32
	SplitLastDim
	CopyEngine
	MajorAlign
	Weak
	Via
	Into
	Shard
	Ordinary
	Along
	Scales
	TransposedB

	Ordered = Group | Stream | Timeout // of operations that are put in a stream
	adding  = Ordered | AccumulateF32  // of reductions by kernels
	factors = Scales | TransposedB     // of products
)

// sorts are the names of the sorts, in the order of their bits. of names the calls that take a
// sort; if it is empty, the operators are listed.
var sorts = []struct{ name, of string }{
	{"a *Group", "operations of groups"},
	{"a *Stream", "operations that are put in a stream"},
	{"Timeout", "operations that wait on the device"},
	{"AccumulateF32", "reductions without multicast"},
	{name: "SplitLastDim"},
	{name: "CopyEngine"},
	{name: "MajorAlign"},
	{name: "Weak"},
	{name: "Via"},
	{name: "Into"},
	{name: "Shard"},
	{name: "Ordinary"},
	{"Along", "Reduce, and its methods with names, such as Sum"},
	{name: "Scales"},
	{name: "TransposedB"},
}

// Each calls f for every sort of the set.
func (s Options) Each(f func(sort Options)) {
	for i := range sorts {
		if sort := Options(1) << i; s&sort != 0 {
			f(sort)
		}
	}
}

// String lists the names of the sorts: "a *Stream, Timeout".
func (s Options) String() string {
	var names []string
	s.Each(func(sort Options) { names = append(names, sort.row().name) })
	return strings.Join(names, ", ")
}

// Of names the calls that take an option of one sort: "AllGather and AllToAll".
func (s Options) Of() string {
	if of := s.row().of; of != "" {
		return of
	}
	var calls []string
	for _, o := range All {
		if o.Options&s != 0 {
			calls = append(calls, o.Call)
		}
	}
	n := len(calls) - 1
	if n == 0 {
		return calls[0]
	}
	return strings.Join(calls[:n], ", ") + " and " + calls[n]
}

// row is the row of one sort.
func (s Options) row() struct{ name, of string } {
	i := 0
	for ; s > 1; s >>= 1 {
		i++
	}
	return sorts[i]
}
