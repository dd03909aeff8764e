package controller

import (
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestHistory(t *testing.T) {
	var h history
	given := []session.Cell{
		{Source: "a"},
		{Name: "f.go", Line: 7, Source: "b", Program: []string{"f.go"}, Ranks: []int{1}, Columns: 80, Stop: "■", Again: "■ again",
			Output: func(session.Output) {}},
		{Folder: "/data"},
		{Source: "c", Ranks: []int{}, Columns: 80},
	}
	for i, cell := range given {
		h.add(cell)
		given[i].ID, given[i].Again, given[i].Output = i+1, "", nil
	}
	h[0].failed, given[0].Failed = "why", "why"
	if got := h.cells(); !reflect.DeepEqual(got, given) {
		t.Errorf("got %+v\nwant %+v", got, given)
	}
}
