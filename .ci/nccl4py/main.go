// Package main is a shared library for nccl4py.py: a rank of symmem in a Python process that also has
// communicators of nccl4py.
package main

import "C"

import (
	"errors"
	"fmt"

	"github.com/symmrepl/symmrepl/symmem"
)

// size is the number of elements that are reduced.
const size = 1000

var (
	rt *symmem.Runtime
	g  *symmem.Group
	t  *symmem.Tensor
)

// text returns an error for Python, nil if there is none.
func text(err error) *C.char {
	if err == nil {
		return nil
	}
	return C.CString(err.Error())
}

// symm_start starts this rank, with a group of all ranks and a tensor of it.
//
//export symm_start
func symm_start() (why *C.char) {
	var err error
	if rt, err = symmem.Start(symmem.Config{Device: "cuda"}); err != nil {
		return text(err)
	}
	return text(symmem.Maybe(func() {
		var ranks []int
		for r := range rt.Size() {
			ranks = append(ranks, r)
		}
		g = rt.NewGroup(ranks...)
		t = g.Empty(symmem.F32, size)
		rt.Rendezvous(t, g)
	}))
}

// symm_adopt lets the group use a communicator of NCCL.
//
//export symm_adopt
func symm_adopt(comm uintptr) *C.char { return text(symmem.Maybe(func() { g.AdoptComm(comm) })) }

// symm_comm stores the communicator of the world.
//
//export symm_comm
func symm_comm(comm *uintptr) *C.char {
	return text(symmem.Maybe(func() { *comm = rt.Group().Comm() }))
}

// symm_tensor fills the tensor with rank+1, and stores its address and its number of elements.
//
//export symm_tensor
func symm_tensor(at *uintptr, n *C.int) *C.char {
	return text(symmem.Maybe(func() {
		values := make([]float32, size)
		for i := range values {
			values[i] = float32(rt.Rank() + 1)
		}
		t.CopyFrom(values)
		rt.Synchronize()
		*at, *n = t.Ptr(), size
	}))
}

// symm_check checks that the tensor is the sum of all ranks.
//
//export symm_check
func symm_check() *C.char {
	var wrong error
	err := symmem.Maybe(func() {
		want := float32(rt.Size() * (rt.Size() + 1) / 2)
		for i, x := range t.Float32s() {
			if x != want {
				wrong = fmt.Errorf("element %d is %v, want %v", i, x, want)
				return
			}
		}
	})
	return text(errors.Join(err, wrong))
}

// symm_all_reduce reduces the tensor by NCCL and stores how: as Explain says.
//
//export symm_all_reduce
func symm_all_reduce(how **C.char) *C.char {
	return text(symmem.Maybe(func() {
		*how = C.CString(rt.Explain(func() { rt.AllReduce(t, "sum", symmem.Via("NCCL"), g) }))
	}))
}

// symm_stop ends this rank.
//
//export symm_stop
func symm_stop() *C.char { return text(rt.Close()) }

func main() {}
