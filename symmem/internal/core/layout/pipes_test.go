package layout

import (
	"testing"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/hosts"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// The sets of pipes of a group follow each other: their inboxes, their outboxes and their words.
func TestPipes(t *testing.T) {
	p := PipesOf(4, 2, true)
	flat, rail := p.Set(false), p.Set(true)
	box := flat.Places * hosts.PipeSlots * flat.Slot
	if flat.Places != 4 || rail.Places != 2 || flat.Slot%Alignment != 0 || rail.Slot > pipeSlot {
		t.Errorf("sets are %+v and %+v", flat, rail)
	}
	if flat.Inbox != 0 || rail.Inbox != box || flat.Outbox != p.Bytes() || rail.Outbox != p.Bytes()+box || rail.Words != hosts.Words(4) {
		t.Errorf("sets are %+v and %+v, of %d bytes", flat, rail, p.Bytes())
	}
	if w := WordsOf(4, 8, p); w.Pipes != w.Channels+abi.Counters || w.All != w.Pipes+hosts.Words(4)+hosts.Words(2) {
		t.Errorf("words are %+v", w)
	}
	if l := Spanning(4, 8, tuning.CPU, p); l.End != l.Pipes+2*p.Bytes() || l.Tables%Alignment != 0 {
		t.Errorf("the layout is %+v", l)
	}
	for _, c := range []struct {
		ranks, hosts int
		even         bool
		want         Pipes
	}{{abi.MaxRanks + 1, 2, true, Pipes{0, 2}}, {4, 2, false, Pipes{4, 0}}, {2 * abi.MaxRanks, abi.MaxRanks + 1, true, Pipes{}}} {
		if got := PipesOf(c.ranks, c.hosts, c.even); got != c.want {
			t.Errorf("%d ranks on %d hosts have %+v, want %+v", c.ranks, c.hosts, got, c.want)
		}
	}
	if none := (Pipes{}).Set(true); none.Places != 0 || none.Slot != 0 || (Pipes{}).Bytes() != 0 {
		t.Errorf("no pipes are %+v", none)
	}
}
