package interp

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

const kernel = "k := symm.Compile(`\n#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n" +
	"extern \"C\" __global__ void f(const symm::Handle h, float* x, ncclDevComm comm) {\n" +
	"  auto tile = cg::tiled_partition<32>(cg::this_thread_block()); ncclGin net(comm, 0); const symm::Packet* inbox = h.buffer<symm::Packet>(0);\n"

// TestCompleteSnippet completes words in the text of a kernel.
func TestCompleteSnippet(t *testing.T) {
	in := completing(t)
	for _, c := range []struct{ src, want string }{
		{"symm::put_w", "func put_with_signal"},
		{"symm::barr", "func barrier"},
		{"symm::Block::s", "func size|func sync"},
		{"cg::this_g", "func this_grid"},
		{"cooperative_groups::coal", "type coalesced_group|func coalesced_threads"},
		{"cuda::memory_ord", "type memory_order"},
		{"h.pa", "field pad_bytes|field pads|func pad"},
		{"h.world", "field world_size"},
		{"tile.meta", "func meta_group_rank|func meta_group_size"},
		{"cg::this_thread_block().thread_r", "func thread_rank"},
		{"net.waitSig", "func waitSignal|func waitSignalFollowShadow|func waitSignalMeetShadow"},
		{"inbox[3].ep", "field epoch"},
		{"inbox->da", "field data"},
		{"comm.lsaBarrier.nB", "field nBarriers"},
		{"threadIdx.", "field x|field y|field z"},
		{"__shfl_x", "func __shfl_xor_sync"},
		{"atomicCA", "func atomicCAS|func atomicCAS_block|func atomicCAS_system"},
		{"ncclGetLsaP", "func ncclGetLsaPointer"},
		{"if (in", "name inbox|keyword inline|keyword int|type int1"},
		{"x[0] = 1; // symm::pu", ""},
		{"x[0] = 1", ""},
		{"printf(\"symm::pu", ""},
		{"unknown.", ""},
		{"h.nothing().", ""},
		{"\n#include \"nccl_d", "header nccl_device.h"},
		{"\n#include <cuda/at", "header cuda/atomic"},
	} {
		a, err := in.Inspect(context.Background(), session.Query{Topic: session.TopicComplete, Arg: kernel + c.src})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range a.Candidates {
			got = append(got, c.Kind+" "+c.Name)
		}
		want := strings.Split(c.want, "|")
		if c.want == "" && len(got) > 0 {
			t.Errorf("%s completes to %q, want nothing", c.src, got)
		}
		for _, w := range want {
			if w != "" && !slices.Contains(got, w) {
				t.Errorf("%s completes to %q, want %q", c.src, got, want)
			}
		}
		if c.want != "" && len(got) > len(want)+12 {
			t.Errorf("%s completes to %d candidates", c.src, len(got))
		}
	}
	for _, src := range []string{"s := `symm.", "s := \"symm::pu"} { // no kernels
		if a, _ := in.Inspect(context.Background(), session.Query{Topic: session.TopicComplete, Arg: src}); len(a.Candidates) > 0 {
			t.Errorf("%s completes to %v", src, a.Candidates)
		}
	}
}

// TestDocumentationInSnippet explains names in the text of a kernel.
func TestDocumentationInSnippet(t *testing.T) {
	in := completing(t)
	_, text, _ := strings.Cut(kernel, "`")
	for name, want := range map[string]string{
		"symm::put_signal":  "// symm/remote.cuh\nbool put_signal(const Handle& h, int dst, u32 channel);\n\nput_signal: one thread signals dst",
		"h.pad":             "// symm/handle.cuh, in symm::Handle\nu32* pad(int p) const;\n\n",
		"h.rank":            "// symm/handle.cuh, in symm::Handle\ni32 rank, world_size;",
		"h":                 "const symm::Handle h\n\n// symm/handle.cuh\nstruct Handle : Context {",
		"x":                 "float* x",
		"min":               "// built in\nconstexpr int min(int a, int b);",
		"tile.shfl":         "// cooperative_groups.h, in cooperative_groups::thread_block_tile\ntemplate <class T> T shfl(T v, int from);",
		"cg::this_grid":     "// cooperative_groups.h\ngrid_group this_grid();",
		"threadIdx":         "// built in\n#define threadIdx\n\nThe place of a thread",
		"symm::Handle::pad": "// symm/handle.cuh\nstruct Handle : Context {",
	} {
		got, err := in.help.Documentation(name, text)
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s is documented as %.200q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"nothing", "h.nothing", "nothing.pad", "symm::nothing", "fmt.Println", "", ".", "::"} {
		if got, err := in.help.Documentation(name, text); err == nil {
			t.Errorf("%s is documented as %q", name, got)
		}
	}
}

// FuzzSnippet completes and explains at the end of any text.
func FuzzSnippet(f *testing.F) {
	for _, text := range []string{"symm::", "a.b.c.", "x]]]]).", "auto a = a; a.", "f(f(f(", "h->", "namespace a = b; a::",
		"((((", "}}}}", "<<<<>>>>.", "#include \"", "auto x = y; auto y = x; x."} {
		f.Add(text)
	}
	in := completing(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 || strings.Contains(text, "`") {
			return
		}
		in.help.Complete("symm.Compile(`" + text)
		in.help.Documentation("x", text)
	})
}
