package filediff

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tensorfile"
)

// tensor is one of a file: its type, shape and elements.
type tensor struct {
	of    element.Type
	shape []int
	data  []byte
}

// write writes tensors to a new file, by name.
func write(t *testing.T, tensors map[string]tensor) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.safetensors")
	var names []string
	for name := range tensors {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []*tensorfile.Output
	for _, name := range names {
		list = append(list, &tensorfile.Output{Name: name, Type: tensors[name].of, Shape: tensors[name].shape})
	}
	w, err := tensorfile.Create(path, list)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list { // Create has sorted them
		if len(tensors[o.Name].data) == 0 {
			continue
		}
		if _, err := w.At(o).WriteAt(tensors[o.Name].data, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

func f32(values ...float32) tensor {
	return tensor{element.F32, []int{len(values)}, element.Bytes(values)}
}

func TestCompare(t *testing.T) {
	want := map[string]tensor{"a": f32(1, 2, 3), "b": f32(1, 1), "n": {element.I64, []int{2, 1}, element.Bytes([]int64{5, -7})}, "none": f32()}
	with := func(name string, value tensor) map[string]tensor {
		all := map[string]tensor{name: value}
		for other, value := range want {
			if other != name {
				all[other] = value
			}
		}
		return all
	}
	without := with("a", f32())
	delete(without, "a")
	for _, c := range []struct {
		got   []map[string]tensor // of the ranks
		names string
		first string
	}{
		{[]map[string]tensor{want, want}, "[]", ""},
		{[]map[string]tensor{want, with("b", f32(1, 1.0000001))}, "[b]", "element 1 of b, on rank 1: 1.0000001192092896, not 1, 1 ulp apart"},
		{[]map[string]tensor{with("a", f32(1, 2.5, 3.5)), with("b", f32(2, 2))}, "[a b]",
			"element 1 of a, on rank 0: 2.5, not 2, 2097152 ulps apart; 4 elements differ, 8388608 ulps at most"},
		{[]map[string]tensor{with("n", tensor{element.I64, []int{2, 1}, element.Bytes([]int64{5, 7})})}, "[n]", "element 1 of n, on rank 0: 7, not -7"},
		{[]map[string]tensor{with("n", tensor{element.I64, []int{2}, element.Bytes([]int64{5, -7})})}, "[]", "n on rank 0 is i64[2], not i64[2 1]"},
		{[]map[string]tensor{want, with("a", tensor{element.I32, []int{3}, make([]byte, 12)})}, "[]", "a on rank 1 is i32[3], not f32[3]"},
		{[]map[string]tensor{without}, "[]", "a on rank 0 is not there, not f32[3]"},
	} {
		var ranks []int
		for rank := range c.got {
			ranks = append(ranks, rank)
		}
		names, first, err := Compare(ranks, func(rank int) string { return write(t, c.got[rank]) }, func(int) string { return write(t, want) })
		if err != nil || fmt.Sprint(names) != c.names || first != c.first {
			t.Errorf("%v: %q, %v, want %s: %q", names, first, err, c.names, c.first)
		}
	}
	nowhere := func(int) string { return "/nowhere.safetensors" }
	if _, _, err := Compare([]int{0}, nowhere, func(int) string { return write(t, want) }); err == nil {
		t.Error("a file that is not there equals one that is")
	}
}
