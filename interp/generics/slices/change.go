package slices

// Insert returns s with v before index i, in the array of s if that is large enough. It panics if i
// is out of range.
func Insert[S ~[]E, E any](s S, i int, v ...E) S {
	_ = s[i:] // i is in range
	if len(v) == 0 {
		return s
	}
	length := len(s) + len(v)
	if length > cap(s) {
		out := append(s[:i], make(S, length-i)...)
		copy(out[i:], v)
		copy(out[i+len(v):], s[i:])
		return out
	}
	// v may lie in the array of s, in the part that moves: it is read before.
	v = append([]E(nil), v...)
	out := s[:length]
	copy(out[i+len(v):], s[i:])
	copy(out[i:], v)
	return out
}

// Delete removes s[i:j] from s and clears the elements behind the new end. It panics if the range
// is not one of s.
func Delete[S ~[]E, E any](s S, i, j int) S {
	_ = s[i:j:len(s)] // i and j are in range
	if i == j {
		return s
	}
	out := append(s[:i], s[j:]...)
	clear(s[len(out):])
	return out
}

// DeleteFunc removes the elements for which del is true and clears those behind the new end.
func DeleteFunc[S ~[]E, E any](s S, del func(E) bool) S {
	n := IndexFunc(s, del)
	if n < 0 {
		return s
	}
	for i := n + 1; i < len(s); i++ {
		if v := s[i]; !del(v) {
			s[n] = v
			n++
		}
	}
	clear(s[n:])
	return s[:n]
}

// Replace puts v in place of s[i:j], in the array of s if that is large enough, and clears the
// elements behind the new end. It panics if the range is not one of s.
func Replace[S ~[]E, E any](s S, i, j int, v ...E) S {
	_ = s[i:j] // i and j are in range
	if i == j {
		return Insert(s, i, v...)
	}
	if j == len(s) {
		out := append(s[:i], v...)
		if len(out) < len(s) {
			clear(s[len(out):])
		}
		return out
	}
	length := i + len(v) + len(s[j:])
	if length > cap(s) {
		out := append(s[:i], make(S, length-i)...)
		copy(out[i:], v)
		copy(out[i+len(v):], s[j:])
		return out
	}
	// v may lie in the array of s, in the part that moves: it is read before.
	v = append([]E(nil), v...)
	out := s[:length]
	copy(out[i+len(v):], s[j:])
	copy(out[i:], v)
	if length < len(s) {
		clear(s[length:])
	}
	return out
}

// Clone returns a copy of s in an array of its own; nil for nil.
func Clone[S ~[]E, E any](s S) S { return append(s[:0:0], s...) }

// Compact keeps the first of each run of elements that are == and clears those behind the new end.
func Compact[S ~[]E, E comparable](s S) S {
	if len(s) < 2 {
		return s
	}
	n := 1
	for i := 1; i < len(s); i++ {
		if s[i] != s[i-1] {
			s[n] = s[i]
			n++
		}
	}
	clear(s[n:])
	return s[:n]
}

// CompactFunc is like Compact, and compares elements with eq.
func CompactFunc[S ~[]E, E any](s S, eq func(E, E) bool) S {
	if len(s) < 2 {
		return s
	}
	n := 1
	for i := 1; i < len(s); i++ {
		if !eq(s[i], s[i-1]) {
			s[n] = s[i]
			n++
		}
	}
	clear(s[n:])
	return s[:n]
}

// Grow returns s with room for n more elements. It panics if n is negative.
func Grow[S ~[]E, E any](s S, n int) S {
	if n < 0 {
		panic("cannot be negative")
	}
	if n -= cap(s) - len(s); n > 0 {
		s = append(s[:cap(s)], make([]E, n)...)[:len(s)]
	}
	return s
}

// Clip returns s without room behind its end.
func Clip[S ~[]E, E any](s S) S { return s[:len(s):len(s)] }

// Concat returns a new slice with the elements of all slices; nil if there are none.
func Concat[S ~[]E, E any](slices ...S) S {
	length := 0
	for _, s := range slices {
		length += len(s)
		if length < 0 {
			panic("len out of range")
		}
	}
	out := Grow[S](nil, length)
	for _, s := range slices {
		out = append(out, s...)
	}
	return out
}

// Repeat returns a new slice with the elements of x, count times. It panics if count is negative or
// the result would be too long.
func Repeat[S ~[]E, E any](x S, count int) S {
	if count < 0 {
		panic("cannot be negative")
	}
	if len(x) > 0 && count > int(^uint(0)>>1)/len(x) {
		panic("the result of (len(x) * count) overflows")
	}
	out := make(S, 0, len(x)*count)
	for range count {
		out = append(out, x...)
	}
	return out
}
