package ptx

import (
	"fmt"
	"strings"
)

// Refusal is a group of instructions that the cpu device does not run.
type Refusal struct {
	Names []string // the beginnings of the instructions, such as "wgmma"
	What  string   // what they are
	Do    string   // what to do instead
}

// behind is the advice for instructions that have no replacement.
const behind = "put it behind #ifndef SYMM_CPU, with C++ in the #else"

var refused = []Refusal{
	{[]string{"multimem"}, "multimem", "use symm::multimem_sum(p) and symm::multimem_store(p, value), or ncclMultimemReduceSum and ncclMultimemCopy, which run on every device"},
	{[]string{"cp.async.bulk", "cp.reduce.async.bulk", "tensormap", "prefetch.tensormap", "fence.proxy.tensormap",
		"cp.async.mbarrier"}, "the tensor memory accelerator, TMA",
		"copy by loads and stores, or by cp.async; or " + behind},
	{[]string{"mbarrier", "fence.mbarrier_init"}, "mbarrier objects",
		"use __syncthreads(), bar.sync with a number and a count, or cuda::atomic_ref; or " + behind},
	{[]string{"wgmma", "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "tcgen05"}, "tensor cores",
		"multiply by fma, or call symm.MatMul from the cell; or " + behind},
	{[]string{"barrier.cluster", "mapa", "getctarank", "st.async", "red.async", "clusterlaunchcontrol"},
		"clusters of thread blocks", "use one block, or global memory; or " + behind},
	{[]string{"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"}, "textures and surfaces",
		"read the memory by ld.global; or " + behind},
	{[]string{"call", "ret", "brx", "alloca", "stacksave", "stackrestore"}, "calls and stacks in PTX", "write the function in C++"},
	{[]string{"exit"}, "the end of a thread", "return from the kernel in C++"},
	{[]string{"discard"}, "discarding memory", "leave it out: it is a hint about caches"},
}

// Refused lists the instructions that are refused by name.
func Refused() []Refusal { return refused }

// refusal returns the reason why an instruction is refused by name, or "".
func refusal(word string) string {
	for _, r := range refused {
		for _, n := range r.Names {
			if word == n || strings.HasPrefix(word, n+".") {
				return fmt.Sprintf("%s (%s) cannot run on the cpu device: %s", word, r.What, r.Do)
			}
		}
	}
	return ""
}
