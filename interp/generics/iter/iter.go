// Package iter is the generic part of the standard library's iter.
package iter

import "github.com/symmrepl/symmrepl/interp/generics/compiled"

// Seq calls yield with one value after the other until there are no more or yield returns false.
type Seq[V any] func(yield func(V) bool)

// Seq2 is like Seq for pairs of values.
type Seq2[K, V any] func(yield func(K, V) bool)

// Pull turns a sequence into a function that returns its next value, and whether there was one.
// Stop ends the sequence early. Calling stop, or reaching the end, releases the sequence's
// resources. A panic of the sequence continues in the caller of next or stop.
func Pull[V any](seq Seq[V]) (next func() (V, bool), stop func()) {
	var zero, value V
	resume, stop := coroutine(func(yield func() bool) {
		seq(func(v V) bool {
			value = v
			return yield()
		})
	})
	next = func() (V, bool) {
		ok := resume()
		v := value
		value = zero
		return v, ok
	}
	return next, stop
}

// Pull2 is like Pull for pairs of values.
func Pull2[K, V any](seq Seq2[K, V]) (next func() (K, V, bool), stop func()) {
	var zeroKey, key K
	var zero, value V
	resume, stop := coroutine(func(yield func() bool) {
		seq(func(k K, v V) bool {
			key, value = k, v
			return yield()
		})
	})
	next = func() (K, V, bool) {
		ok := resume()
		k, v := key, value
		key, value = zeroKey, zero
		return k, v, ok
	}
	return next, stop
}

// coroutine runs body alternately with its caller; a panic of body continues in the caller.
func coroutine(body func(yield func() bool)) (resume func() bool, stop func()) {
	var failure any
	turn, end := compiled.Coroutine(func(yield func() bool) {
		defer func() { failure = recover() }()
		body(yield)
	})
	fail := func() {
		if f := failure; f != nil {
			failure = nil
			panic(f)
		}
	}
	resume = func() bool {
		ok := turn()
		fail()
		return ok
	}
	stop = func() {
		end()
		fail()
	}
	return resume, stop
}
