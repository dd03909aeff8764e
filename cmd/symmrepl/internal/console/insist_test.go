package console_test

import (
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
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
	if got := console.Busy(infos); !reflect.DeepEqual(got, []int{2, 3, 4, 7}) {
		t.Errorf("busy ranks %v", got)
	}
}

// What a user insists on is done once at a time, ends before the entry's End returns, and is not done to a
// later entry.
func TestInsistence(t *testing.T) {
	var i console.Insistence
	begun, goOn := make(chan bool), make(chan bool)
	done := 0
	do := func() {
		begun <- true
		<-goOn
		done++
	}
	i.Insist(do)
	<-begun
	i.Insist(func() { t.Error("it is done twice at a time") })
	ended := make(chan bool)
	go func() {
		i.End()
		close(ended)
	}()
	select {
	case <-ended:
		t.Fatal("End does not wait")
	case <-time.After(20 * time.Millisecond):
	}
	goOn <- true
	<-ended
	if done != 1 {
		t.Errorf("done %d times", done)
	}
	i.Insist(func() { t.Error("it is done to an entry that has ended") })
	i.End()
}

// After it was done, it can be done again.
func TestInsistenceAgain(t *testing.T) {
	var i console.Insistence
	var done atomic.Int32
	for done.Load() < 3 {
		i.Insist(func() { done.Add(1) })
	}
	i.End()
}
