package places

import (
	"reflect"
	"testing"
)

func TestSplit(t *testing.T) {
	p := On([][]int{{0, 1, 2}, {3, 4, 5}, {6, 7}}, false)
	s := p.Split([]int{0, 2, 3, 5, 6, 7}, 5)
	if want := [][]int{{0, 2}, {3, 5}, {6, 7}}; !reflect.DeepEqual(s.Parts, want) || s.Home != 1 || !s.Spans() || !s.Even() {
		t.Errorf("got %+v, want the parts %v and home 1", s, want)
	}
	if want := [][]int{{0, 1}, {2, 3}, {4, 5}}; !reflect.DeepEqual(s.Members, want) {
		t.Errorf("members are %v, want %v", s.Members, want)
	}
	if got := s.Counterparts(); !reflect.DeepEqual(got, []int{2, 5, 7}) {
		t.Errorf("counterparts are %v", got)
	}
	if s.Near(0) || !s.Near(2) || !s.Near(3) || s.Near(4) {
		t.Errorf("near are not the members 2 and 3 alone")
	}
	first := p.Split([]int{0, 2, 3, 5, 6, 7}, 3)
	if got, other := first.Partners(), s.Partners(); !reflect.DeepEqual(got, []uint32{1, 5}) || other != nil {
		t.Errorf("partners are %v of rank 3 and %v of rank 5", got, other)
	}
	if uneven := p.Split([]int{0, 3, 4}, 0); uneven.Even() || !uneven.Spans() {
		t.Errorf("%+v is even, or does not span hosts", uneven)
	}
	var none *Places
	if s := none.Split([]int{0, 3}, 3); s.Spans() || !reflect.DeepEqual(s.Here(), []int{0, 3}) || !s.Near(0) {
		t.Errorf("without places: %+v", s)
	}
}

func TestSpelled(t *testing.T) {
	for want, lists := range map[string][][]int{"0,2": {{0, 2}}, "0 and 1,2": {{0}, {1, 2}}, "0; 1 and 2": {{0}, {1}, {2}}} {
		if got := Spelled(lists); got != want {
			t.Errorf("%v is %q, want %q", lists, got, want)
		}
	}
}
