// Package compiled has the compiled code that the sources in package generics need. Cells do not
// use it directly.
package compiled

import (
	"hash/maphash"
	"iter"
	"reflect"
	"sync/atomic"
	"unique"
	"unsafe"
	"weak"
)

// Coroutine prepares body to run alternately with its caller. Each call of resume runs body to its
// next yield and returns true, or to its end and returns false. Stop makes the yield in which body
// waits return false, and returns when body has returned. Body must not panic.
func Coroutine(body func(yield func() bool)) (resume func() bool, stop func()) {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		body(func() bool { return yield(struct{}{}) })
	})
	return func() bool {
		_, ok := next()
		return ok
	}, stop
}

// Pointer is an atomic pointer of a type that its user knows. The zero value holds nil.
type Pointer struct{ p atomic.Pointer[any] }

// Load returns the value that was stored last, or a nil interface.
func (p *Pointer) Load() any { return held(p.p.Load()) }

// Store keeps a pointer.
func (p *Pointer) Store(v any) { p.p.Store(&v) }

// Swap keeps a pointer and returns the value that was stored before, or a nil interface.
func (p *Pointer) Swap(v any) any { return held(p.p.Swap(&v)) }

// CompareAndSwap keeps the pointer v if old is stored, and reports that.
func (p *Pointer) CompareAndSwap(old, v any) bool {
	for {
		at := p.p.Load()
		if now := held(at); now != old && !(isNil(now) && isNil(old)) {
			return false
		}
		if p.p.CompareAndSwap(at, &v) {
			return true
		}
	}
}

func held(at *any) any {
	if at == nil {
		return nil
	}
	return *at
}

func isNil(v any) bool { return v == nil || reflect.ValueOf(v).IsNil() }

// Unique stands for a comparable value: two are equal if their values are.
type Unique struct{ h unique.Handle[any] }

// MakeUnique returns the handle of a value.
func MakeUnique(v any) Unique { return Unique{unique.Make(v)} }

// Value returns the value of the handle.
func (u Unique) Value() any { return u.h.Value() }

// Weak is a pointer that does not keep its object alive. The zero value is the weak nil pointer;
// two are equal if they were made from equal pointers.
type Weak struct {
	p weak.Pointer[byte]
	t reflect.Type
}

// MakeWeak returns the weak pointer of a pointer.
func MakeWeak(p any) Weak {
	v := reflect.ValueOf(p)
	if v.IsNil() {
		return Weak{}
	}
	return Weak{weak.Make((*byte)(v.UnsafePointer())), v.Type().Elem()}
}

// Value is the pointer that w was made from, or a nil interface if its object is gone.
func (w Weak) Value() any {
	p := w.p.Value()
	if p == nil {
		return nil
	}
	return reflect.NewAt(w.t, unsafe.Pointer(p)).Interface()
}

// Hash is the hash of a comparable value.
func Hash(seed maphash.Seed, v any) uint64 { return maphash.Comparable(seed, v) }

// WriteHash adds a comparable value to what h hashes.
func WriteHash(h *maphash.Hash, v any) { maphash.WriteComparable(h, v) }
