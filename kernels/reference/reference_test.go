package reference

import (
	"reflect"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	for _, c := range []struct{ name, decl, text string }{
		{"symm::put_with_signal", "// symm/remote.cuh\nbool put_with_signal(const Handle& h, int dst, u64 offset, const void* src, u64 n, u32 i, u64 value);",
			"put_with_signal: the threads of a block put n bytes and then set 64-bit signal i of dst to value.\nA rank that waits for that value sees the bytes.…"},
		{"put", "// symm/remote.cuh\ntemplate <class Team = Block> bool put(const Handle& h, int dst, u64 offset, const void* src, u64 n, SignalOp signal = {}, Counter counter = {});",
			"put: a team copies n bytes from src, memory of this rank, into dst's copy of the tensor, at byte\noffset; a signal follows the data.…"},
		{"symm::put_signal", "// symm/remote.cuh\nbool put_signal(const Handle& h, int dst, u32 channel);",
			"put_signal: one thread signals dst on a channel; its earlier writes, and this rank's earlier puts\nto dst, are visible to dst after the wait.…"},
		{"fence", "// symm/order.cuh\nvoid fence();", "fence orders all accesses before it against all accesses after it, at system scope.…"},
		{"load_acquire", "// symm/order.cuh\nu32 load_acquire(const u32* p);\nu64 load_acquire(const u64* p);",
			"load_acquire loads a word.\n\nOrder: acquire.…"},
		{"symm::Handle", "// symm/handle.cuh\nstruct Handle : Context {\n  u64 bytes;  // of the tensor\n…",
			"Handle is one tensor, rendezvoused by a group, as returned by symm.Rendezvous.…"},
		{"symm::Handle::pad", "// symm/handle.cuh\nstruct Handle : Context {\n…", "Handle is one tensor,…"},
		{"symm::kNoCounter", "// symm/remote.cuh\nconstexpr u32 kNoCounter = ~0u", "A Counter is one of the group's kCounters, by its number.…"},
		{"symm::kUser", "// symm/context.cuh\nenum WaitKind : u32 {\n…", "WaitKind is the kind of awaited event,…"},
		{"symm::multimem_store", "// nccl/multimem.h\ntemplate <class T> void multimem_store(T* p, T value);",
			"multimem_store stores a value at a multimem pointer,…"},
		{"symm::post_far", "// symm/remote.cuh\nbool post_far(const NetGroup& g,…", "post_far: one thread posts an operation…"}, // not listed, but known
		{"ncclBarrier", "// nccl/barrier.h\ntemplate <typename Coop> void ncclBarrier(Coop coop, ncclTeamTagWorld tag, ncclGin net, unsigned int index, …", "A barrier in one call…"},
		{"ncclGin", "// nccl/gin.h\nusing ncclGin = ncclGin_BackendMask<~0u>\ntemplate <unsigned int backendMask> struct ncclGin_BackendMask {\n…", "ncclGin is a context…"},
		{"ncclFindWindow", "// nccl/missing.h\n…", "ncclFindWindow is not here: give the kernel the window that symm.Window(t) returned"},
		{"atomicAdd", "// built in\nint atomicAdd(int* p, int v);\n…", "Atomic operations, which return the previous value.…"},
		{"__half", "// cuda_fp16.h\nstruct __half {\n…", "A number.…"},
		{"hexp2", "// cuda_fp16.h\n__half hexp2(__half a);…", "Functions, computed as float and rounded once."},
		{"cooperative_groups::thread_block", "// cooperative_groups.h\nclass thread_block {\n…", "thread_block is the block.…"},
		{"__shared__", "// built in\n#define __shared__", "Qualifiers.…"},
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

// TestNames checks that what symm.cuh mentions to users is listed and has a comment, and that
// helpers of the headers are not listed.
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
	for _, name := range []string{"symm::post_far", "symm::refuse", "symm::slot", "symm::NetOp", "emu::", "EMU_", "symm_cpu_", "details::", "SYMM_LAYOUT"} {
		if strings.Contains(names, name) {
			t.Errorf("%s is listed", name)
		}
	}
}

func TestWithin(t *testing.T) {
	list := Within("symm::")
	if len(list) < 50 || list[0].Name != "symm::Handle" {
		t.Errorf("symm:: has %d names, first %v", len(list), list[0])
	}
	for _, e := range list {
		if e.Internal || !strings.HasPrefix(e.Name, "symm::") {
			t.Errorf("%s is listed", e.Name)
		}
	}
	if list := Within("nothing::"); len(list) > 0 {
		t.Errorf("nothing has %d names", len(list))
	}
}

func TestMembers(t *testing.T) {
	for _, c := range []struct{ typ, member, gives string }{
		{"const symm::Handle&", "pad", "u32*"},
		{"Handle", "rank", "i32"}, // of its base
		{"ncclGin", "waitSignal", "void"},
		{"ncclWindow_t", "lsa", "char*"}, // of what an alias points to
		{"const uint3&", "x", "unsigned"},
	} {
		if m, ok := MemberOf(c.typ, c.member); !ok || !strings.Contains(m.Gives, c.gives) {
			t.Errorf("%s of %s is %+v, %v, want a %s", c.member, c.typ, m, ok, c.gives)
		}
	}
	for _, typ := range []string{"", "nothing", "*", "<>", "fence"} {
		if list := Members(typ); len(list) > 0 {
			t.Errorf("%q has members: %v", typ, list)
		}
	}
}

func TestSplit(t *testing.T) {
	text := Split("put puts.\nMore.\n\n  a table\n\n  of it\n\nOrder: strong,\nmostly.\nWaits: no.\nExample:\n\n  put(h);\n    put(h);\n\n  end();\n\nLast.")
	want := Text{[]string{"put puts.\nMore.", "  a table\n\n  of it", "Last."},
		map[string]string{"Order": "strong, mostly.", "Waits": "no."}, []string{"put(h);\n  put(h);\n\nend();"}}
	if !reflect.DeepEqual(text, want) {
		t.Errorf("split into %#v, want %#v", text, want)
	}
	for comment, want := range map[string]string{
		"One sentence. Another.": "One sentence", "One\nsentence": "One sentence", "": "", "  code": "", "A; b.": "A",
		"Order: none.": "", "docs/x.md says so. More": "docs/x.md says so",
	} {
		if got := Summary(comment); got != want {
			t.Errorf("the summary of %q is %q, want %q", comment, got, want)
		}
	}
}
