package places

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// placesOf are devices of these IDs, with the IDs of those that each cannot map.
func placesOf(ids string, apart map[string]string) (list []device.Place) {
	for _, id := range strings.Fields(ids) {
		list = append(list, device.Place{ID: id, Apart: strings.Fields(apart[id])})
	}
	return list
}

func TestCliques(t *testing.T) {
	for _, c := range []struct {
		ids   string
		apart map[string]string
		ranks []int
		want  string
	}{
		{"a b c d", nil, []int{0, 1, 2, 3}, "[[0 1 2 3]]"},
		{"a a a", nil, []int{0, 1, 2}, "[[0 1 2]]"},
		{"a b c d", map[string]string{"a": "c d", "b": "c d"}, []int{0, 1, 2, 3}, "[[0 1] [2 3]]"},
		{"a b c d", map[string]string{"c": "a b", "d": "a b"}, []int{0, 1, 2, 3}, "[[0 1] [2 3]]"},
		{"a b a b", map[string]string{"a": "b"}, []int{0, 1, 2, 3}, "[[0 2] [1 3]]"},
		{"a b a b", map[string]string{"a": "b"}, []int{1, 2, 3}, "[[1 3] [2]]"},
		{"a b c", map[string]string{"a": "b c", "b": "c"}, []int{0, 1, 2}, "[[0] [1] [2]]"},
		{"a b c", map[string]string{"b": "c"}, []int{0, 1, 2}, "the GPU of rank 0 can map the memory of the GPUs of ranks 1 and 2, which cannot map each other's"},
		{"a b c", map[string]string{"a": "c"}, []int{0, 1, 2}, "the GPU of rank 1 can map the memory of the GPUs of ranks 0 and 2, which cannot map each other's"},
		{"a b c d", map[string]string{"a": "b c", "b": "c"}, []int{0, 1, 2, 3},
			"the GPU of rank 3 can map the memory of the GPUs of ranks 0 and 1, which cannot map each other's"},
	} {
		parts, err := cliques(c.ranks, placesOf(c.ids, c.apart))
		got := fmt.Sprint(parts)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("GPUs %s, apart %v: got %s, want %s", c.ids, c.apart, got, c.want)
		}
	}
}

func TestJoined(t *testing.T) {
	devices := placesOf("a b c d e f", nil)
	for r, fabric := range []string{"x", "x", "y", "x", "x", ""} {
		devices[r].Fabric = fabric
	}
	for _, c := range []struct{ parts, want [][]int }{
		{[][]int{{0, 1}, {3, 4}}, [][]int{{0, 1, 3, 4}}},
		{[][]int{{0, 3}, {1, 4}}, [][]int{{0, 1, 3, 4}}},
		{[][]int{{0, 1}, {2}, {3}, {5}}, [][]int{{0, 1, 3}, {2}, {5}}},
		{[][]int{{0, 1}, {2, 3}, {4}}, [][]int{{0, 1, 4}, {2, 3}}}, // a host with GPUs of two fabrics is by itself
		{[][]int{{5}, {0}}, [][]int{{5}, {0}}},
	} {
		if got := joined(c.parts, devices); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.parts, got, c.want)
		}
	}
}
