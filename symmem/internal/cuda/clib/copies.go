package clib

// #include "clib.h"
import "C"

import (
	"slices"
	"unsafe"
)

// Value is an operation on a 32-bit word: store the value, or hold the stream until the word equals
// it.
type Value struct {
	Word  uintptr
	Value uint32
	Await bool
}

// SetWords fills n 32-bit words.
func (s Stream) SetWords(dst uintptr, value uint32, n int) error {
	return check(C.sy_set_words(s.c, C.uint64_t(dst), C.uint32_t(value), C.size_t(n)))
}

// CopyAll copies pieces in parallel by copy engines. The three lists are equally long, at most 16.
func (s Stream) CopyAll(dst, src []uint64, size []uint64, capturing bool) error {
	if len(dst) == 0 {
		return nil
	}
	var c C.int
	if capturing {
		c = 1
	}
	return check(C.sy_copy_all(s.c, (*C.uint64_t)(unsafe.SliceData(dst)), (*C.uint64_t)(unsafe.SliceData(src)),
		(*C.size_t)(unsafe.SliceData(size)), C.size_t(len(dst)), c))
}

// Values performs operations in order.
func (s Stream) Values(list []Value) error {
	for part := range slices.Chunk(list, C.SY_VALUES) {
		ops := make([]C.sy_value, len(part))
		for i, v := range part {
			ops[i] = C.sy_value{word: C.uint64_t(v.Word), value: C.uint32_t(v.Value)}
			if v.Await {
				ops[i].await = 1
			}
		}
		if err := check(C.sy_values(s.c, unsafe.SliceData(ops), C.size_t(len(ops)))); err != nil {
			return err
		}
	}
	return nil
}

// Peek reads device memory independently of streams.
func (d Device) Peek(dst []byte, src uintptr) error {
	return check(C.sy_peek(d.c, unsafe.Pointer(unsafe.SliceData(dst)), C.uint64_t(src), C.size_t(len(dst))))
}

// Poke writes a word of device memory independently of streams.
func (d Device) Poke(dst uintptr, value uint32) error {
	return check(C.sy_poke(d.c, C.uint64_t(dst), C.uint32_t(value)))
}
