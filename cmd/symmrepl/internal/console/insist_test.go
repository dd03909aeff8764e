package console

import (
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestBusy(t *testing.T) {
	infos := []session.RankInfo{
		{Rank: 0, State: "idle"},
		{Rank: 1, State: "idle", Doing: "does not answer"},
		{Rank: 2, State: "running"},
		{Rank: 3, State: "waiting", Doing: "waits in wait_signal"},
		{Rank: 4, State: "stopped", Doing: "does not answer"},
		{Rank: 5, State: "starting"},
		{Rank: 6, State: "dead", Doing: "no GPU"},
		{Rank: 7, State: "running", Doing: "does not answer"},
	}
	if got := busy(infos); !reflect.DeepEqual(got, []int{2, 3, 4, 7}) {
		t.Errorf("busy ranks %v", got)
	}
}
