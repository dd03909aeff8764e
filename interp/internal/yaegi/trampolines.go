package yaegi

import "unsafe"

// A trampoline calls a function as one whose parameters are all words. Until it has copied the
// pointers among the results, only its own frame has them, as integers. The garbage collector finds
// them there, because it takes every word for a pointer in a frame that it interrupts between two
// calls; so nothing else is called until then.

// fewWords is the number of parameters of callWords.
const fewWords = 4

// callWords calls a function whose parameters are at most fewWords integers and pointers, and whose
// results are no floats. Pointers has a bit for each result that is a pointer.
//
//go:nocheckptr
func callWords(function unsafe.Pointer, r *registers, pointers uint) {
	f := *(*func(a, b, c, d uintptr) (w, x, y, z uintptr))(unsafe.Pointer(&function))
	i := &r.ints
	w, x, y, z := f(i[0], i[1], i[2], i[3])
	r.keep(w, x, y, z, pointers)
}

// keep stores the results that are integers and pointers.
//
//go:nosplit
//go:nocheckptr
func (r *registers) keep(w, x, y, z uintptr, pointers uint) {
	if pointers != 0 {
		p := &r.pointers
		if pointers&1 != 0 {
			p[0] = asPointer(w)
		}
		if pointers&2 != 0 {
			p[1] = asPointer(x)
		}
		if pointers&4 != 0 {
			p[2] = asPointer(y)
		}
		if pointers&8 != 0 {
			p[3] = asPointer(z)
		}
	}
	i := &r.ints
	i[0], i[1], i[2], i[3] = w, x, y, z
}

//go:nosplit
//go:nocheckptr
func asPointer(word uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&word)) }
