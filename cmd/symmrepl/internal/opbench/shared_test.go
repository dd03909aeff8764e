package opbench

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestShared: if ranks share devices, the header says so and the benchmark measures no peers.
func TestShared(t *testing.T) {
	var out bytes.Buffer
	infos := []session.RankInfo{{Rank: 0, Sharers: []int{0, 1}}, {Rank: 1, Sharers: []int{0, 1}}, {Rank: 2},
		{Rank: 3, Sharers: []int{3, 4, 5}}, {Rank: 4, Sharers: []int{3, 4, 5}}, {Rank: 5, Sharers: []int{3, 4, 5}}}
	r := &run{ranks: 6, device: "cuda:0", out: &out, shared: sharedOf(infos), o: Options{DType: "f32"}}
	if want := [][]int{{0, 1}, {3, 4, 5}}; !reflect.DeepEqual(r.shared, want) {
		t.Errorf("the groups that share a device are %v, want %v", r.shared, want)
	}
	if f := r.peers([]string{"all_reduce"}, []int{4096}); f != nil {
		t.Errorf("the benchmark measures peers: %v", f)
	}
	if err := r.header(); err != nil {
		t.Fatal(err)
	}
	want := "PyTorch, NCCL and NVSHMEM not measured: they need a GPU for each rank\n" +
		"not comparable with devices of their own: the ranks 0,1 and 3-5 use the same one, and their kernels wait for each other's turns\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("the header is\n%swant it to end in\n%s", out.String(), want)
	}
	if shared := sharedOf([]session.RankInfo{{Rank: 0}, {Rank: 1}}); shared != nil {
		t.Errorf("no ranks share a device, but the groups are %v", shared)
	}
}
