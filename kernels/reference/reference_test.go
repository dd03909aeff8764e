package reference

import (
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	for _, c := range []struct{ name, decl, text string }{
		{"symm::put_with_signal", "// symm/remote.cuh\nbool put_with_signal(const Handle& h, int dst, u64 offset, const void* src, u64 n, u32 i, u64 value);",
			"put_with_signal: the threads of a block put n bytes and then set 64-bit signal i of dst to value.\nA rank that waits for that value sees the bytes. put_with_signal does not wait for dst."},
		{"put", "// symm/remote.cuh\ntemplate <class Team = Block> bool put(const Handle& h, int dst, u64 offset, const void* src, u64 n, SignalOp signal = {}, Counter counter = {});",
			"put: a team copies n bytes from src, memory of this rank, into dst's copy of the tensor, at byte\noffset; a signal follows the data.…"},
		{"symm::put_signal", "// symm/remote.cuh\nbool put_signal(const Handle& h, int dst, u32 channel);",
			"put_signal: one thread signals dst on a channel; its earlier writes, and this rank's earlier puts\n" +
				"to dst, are visible to dst after the wait. It first waits until dst has consumed the previous\n" +
				"signal. It returns false if it gave up."},
		{"fence", "// symm/order.cuh\nvoid fence();", "fence orders all accesses before it against all accesses after it, at system scope."},
		{"load_acquire", "// symm/order.cuh\nu32 load_acquire(const u32* p);\nu64 load_acquire(const u64* p);",
			"order.cuh: loads and stores with a memory order, of aligned 32-bit and 64-bit words.\n…"},
		{"symm::Handle", "// symm/handle.cuh\nstruct Handle : Context {\n  u64 bytes;      // of the tensor\n…",
			"Handle is one tensor, rendezvoused by a group, as returned by symm.Rendezvous.…"},
		{"symm::Handle::pad", "// symm/handle.cuh\nstruct Handle : Context {\n…", "Handle is one tensor,…"},
		{"symm::kNoCounter", "// symm/remote.cuh\nconstexpr u32 kNoCounter = ~0u", "A Counter is one of the group's kCounters, by its number.…"},
		{"symm::multimem_store", "…", "…"},
		{"ncclBarrier", "// nccl/barrier.h\ntemplate <typename Coop> void ncclBarrier(Coop coop, ncclTeamTagWorld tag, ncclGin net, unsigned int index, …", "…"},
		{"ncclGin", "// nccl/gin.h\nusing ncclGin = ncclGin_BackendMask<~0u>\ntemplate <unsigned int backendMask>\nstruct ncclGin_BackendMask {\n…", "nccl/gin.h: ncclGin, puts, gets and signals between all ranks of a communicator, on this host and\non others.\n…"},
	} {
		decl, text, ok := Lookup(c.name)
		if !ok || !like(decl, c.decl) || !like(text, c.text) {
			t.Errorf("%s: %v\n%s\n\n%s\nwant\n%s\n\n%s", c.name, ok, decl, text, c.decl, c.text)
		}
	}
	for _, name := range []string{"", "symm", "symm::", "symm::nothing", "nothing", "operator|"} {
		if decl, _, ok := Lookup(name); ok {
			t.Errorf("%q is %s", name, decl)
		}
	}
}

// like reports whether text equals want or, if want ends in an ellipsis, begins with want.
func like(text, want string) bool {
	beginning, short := strings.CutSuffix(want, "…")
	return text == want || short && strings.HasPrefix(text, beginning)
}

// TestNames: every declaration that symm.cuh mentions to users has a comment.
func TestNames(t *testing.T) {
	names := strings.Join(Names(), "\n") + "\n"
	for _, name := range []string{"barrier", "put_signal", "wait_signal", "put", "get", "signal", "flush", "put_with_signal",
		"wait_for_signal", "store_packet", "load_packet", "store_line",
		"load_line", "Patience", "Handle", "Warp", "Block", "Thread", "f16", "bf16", "wait_until", "put_value", "signal_add", "weak"} {
		if !strings.Contains(names, "symm::"+name+"\n") {
			t.Errorf("%s is missing", name)
		} else if _, text, _ := Lookup(name); text == "" {
			t.Errorf("%s has no comment", name)
		}
	}
}
