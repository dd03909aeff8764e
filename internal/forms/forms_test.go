package forms

import (
	"reflect"
	"testing"
)

func TestDecode(t *testing.T) {
	want := Tensor{Kind: "f32[1]", NaN: 1, Parts: []Part{{Rows: []string{""}, Columns: []string{"0"}, Cells: [][]string{{"NaN"}}}}}
	data := map[string]any{TensorType: Encode(want), ChartType: "no JSON", "text/html": "x"}
	if got, ok := Decode[Tensor](data, TensorType); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := Decode[Chart](data, ChartType); ok {
		t.Error("a text that is no JSON is a chart")
	}
	if _, ok := Decode[Tensor](nil, TensorType); ok {
		t.Error("a value without forms is a tensor")
	}
	if got, want := Shown(data), map[string]any{"text/html": "x"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
