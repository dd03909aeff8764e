package bootstrap

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/internal/shortdir"
)

// Ranks that see each other's directories share a host, whatever the names of the directories; a
// rank whose directory no other rank sees is alone.
func TestHosts(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 4)
	w.clients[1].dir = shortdir.New(t)
	w.clients[3].dir = filepath.Join(shortdir.New(t), "elsewhere")
	for ordinal, test := range []struct {
		group []int
		want  [][]int
	}{
		{[]int{0, 1, 2, 3}, [][]int{{0, 1, 2}, {3}}},
		{[]int{1, 2}, [][]int{{1, 2}}},
		{[]int{0, 3}, [][]int{{0}, {3}}},
		{[]int{3}, [][]int{{3}}},
	} {
		for i, err := range w.each(test.group, func(c *Client) error {
			got, err := c.Hosts(ctx, call(uint64(ordinal), test.group...))
			if err == nil && !reflect.DeepEqual(got, test.want) {
				t.Errorf("rank %d of %v: hosts %v, want %v", c.Rank(), test.group, got, test.want)
			}
			return err
		}) {
			if err != nil {
				t.Errorf("rank %d: %v", test.group[i], err)
			}
		}
	}
}

// A rank that reaches the others shares no host with them if they do not reach it.
func TestHostsAreMutual(t *testing.T) {
	got := partition([]int{1, 4, 6}, [][]int{{1, 4, 6}, {1, 4, 6}, {6}})
	if want := [][]int{{1, 4}, {6}}; !reflect.DeepEqual(got, want) {
		t.Errorf("hosts %v, want %v", got, want)
	}
}
