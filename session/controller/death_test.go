package controller

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// The deaths of idle workers are reported before the next cell, in one line. The cell does not
// report them again to a user who has seen the line.
func TestIdleDeathToldAtOnce(t *testing.T) {
	for _, prompt := range []bool{true, false} {
		runtimeDir(t)
		notices := make(chan string, 10)
		s, err := Launch(context.Background(), session.Config{Ranks: 4, KillAfter: 400 * time.Millisecond, Prompt: prompt,
			Notice: func(text string) { notices <- text }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		c := &console{Session: s, t: t, size: 4, c: s.(*controller)}
		c.eval("value x")
		pids := c.pids()
		c.c.mu.Lock() // the reports of the deaths wait, as on a machine that is busy
		syscall.Kill(pids[1], syscall.SIGKILL)
		syscall.Kill(pids[3], syscall.SIGKILL)
		for _, pid := range []int{pids[1], pids[3]} {
			for stat := []byte(nil); !bytes.Contains(stat, []byte(") Z ")); time.Sleep(time.Millisecond) { // until it has ended
				stat, _ = os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			}
		}
		c.c.mu.Unlock()
		want := "rank 1,3 was killed (SIGKILL) while no cell ran: a fresh worker takes over, variables are lost there (`:restart replay` runs the cells again)"
		if said := receive(t, "the deaths are told", notices); said != want {
			t.Errorf("told %q, want %q", said, want)
		}
		got := c.eval("gather x")
		if again := strings.Contains(got, "was killed"); again == prompt || !strings.Contains(got, "lost: symmetric memory of rank 1") {
			t.Errorf("prompt %v: the next cell says\n%s", prompt, got)
		}
		if len(notices) > 0 {
			t.Errorf("told again: %s", <-notices)
		}
		c.want(c.eval("gather x"), "= [0-3] 0123\n")
	}
}

// A death that Late has shown is not told again to its front end, but to one that has attached since.
func TestIdleDeathToldToNotebook(t *testing.T) {
	c := launch(t, 3)
	late := make(chan session.Output, 10)
	cell := session.Cell{Source: "value x", Late: func(o session.Output) { late <- o }}
	c.evalCell(t.Context(), cell)
	for _, guest := range []bool{false, true} {
		syscall.Kill(c.pids()[2], syscall.SIGKILL)
		said := receive(t, "the death is told", late)
		if said.Stream != session.Note || !strings.HasPrefix(said.Text, "rank 2 was killed (SIGKILL) while no cell ran: ") {
			t.Errorf("told %+v", said)
		}
		on := c
		if guest {
			on = &console{Session: attachGuest(t, c), t: t, size: 3}
		}
		cell.Source = "gather x"
		if got := on.evalCell(t.Context(), cell); strings.Contains(got, "was killed") != guest || !strings.HasSuffix(got, "= [0-2] 012\n") {
			t.Errorf("guest %v: the next cell says\n%s", guest, got)
		}
	}
}

// The report says so if no worker replaces the dead one. A restart that replaces idle workers is
// not reported as a death.
func TestIdleDeathWithoutReplacement(t *testing.T) {
	c := launch(t, 2)
	late := make(chan string, 10)
	c.evalCell(t.Context(), session.Cell{Source: "value x", Late: func(o session.Output) { late <- o.Text }})
	if err := c.Restart(t.Context(), []int{1}, false, nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * lostTogether)
	if len(late) > 0 {
		t.Errorf("a restart is told as %q", <-late)
	}
	var said []string
	for range startAttempts {
		pid := c.pids()[1]
		syscall.Kill(pid, syscall.SIGKILL)
		said = append(said, receive(t, "the death is told", late))
		if len(said) < startAttempts {
			soon(t, "rank 1 is replaced", func() bool { now := c.pids()[1]; return now != 0 && now != pid })
		}
	}
	if want := "rank 1 was killed (SIGKILL) while no cell ran: no other takes the place of rank 1 (`:restart` tries again)\n"; !slices.Contains(said, want) {
		t.Errorf("told %q, want %q among them", said, want)
	}
}
