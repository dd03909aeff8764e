package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

var kills = flag.Int("kills", 6, "how often a rank is killed at a random moment")

// A rank is killed at a random moment. The session reports that within a second, in half of the
// cases within 0.2 s, and the next collective is right.
func TestKilledAtRandomMoments(t *testing.T) {
	const ranks = 3
	cells := []string{
		"for {}",
		"for i := 0; ; i++ { fmt.Println(i) }",
		"time.Sleep(time.Hour)",
		"t := symm.Empty(symm.I32, 64).Fill(1); symm.Rendezvous(t); for { symm.OneShotAllReduce(t, \"sum\").Free() }",
		"for { t := symm.Empty(symm.I32, 64); symm.Rendezvous(t); t.Free() }",
		"<-make(chan int)",
	}
	s := launchHere(t, ranks)
	var told []time.Duration
	for i := range *kills {
		infos, err := s.Ranks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cell, victim := cells[i%len(cells)], infos[rand.IntN(ranks)]
		ctx, interrupt := context.WithTimeout(t.Context(), patience())
		moment := 50*time.Millisecond + rand.N(500*time.Millisecond)
		killed := make(chan time.Time, 1)
		time.AfterFunc(moment, func() {
			killed <- time.Now()
			syscall.Kill(victim.PID, syscall.SIGKILL)
		})
		var said time.Time
		reply := s.Eval(ctx, session.Cell{Source: cell, Output: func(o session.Output) {
			if o.Stream == session.Note && said.IsZero() && strings.Contains(o.Text, "was killed (SIGKILL)") {
				said = time.Now()
				interrupt()
			}
		}})
		if said.IsZero() {
			said = time.Now()
		}
		interrupt()
		named := slices.ContainsFunc(reply.Errors, func(e *session.Error) bool {
			return slices.Contains(e.Ranks, victim.Rank) && strings.Contains(e.Msg, "was killed (SIGKILL)")
		})
		took := said.Sub(<-killed)
		told = append(told, took)
		if !named || took > pace.Unhurried(time.Second) {
			t.Errorf("%s: reported after %v, %v", cell, took, reply.Errors)
		}
		after := evalPatiently(t, s, session.Cell{Source: "{ t := symm.Empty(symm.I32, 4).Fill(symm.Rank() + 1); symm.Rendezvous(t); if got := symm.OneShotAllReduce(t, \"sum\").Ints()[3]; got != 6 { panic(got) } }"})
		if len(after.Errors) > 0 {
			t.Fatalf("after %s: %v", cell, after.Errors)
		}
	}
	slices.Sort(told)
	median := told[len(told)/2]
	t.Logf("%d kills, reported after a median of %v, at most %v", len(told), median, told[len(told)-1])
	if *kills >= 100 && median > pace.Unhurried(200*time.Millisecond) {
		t.Errorf("kills are reported after a median of %v", median)
	}
}
