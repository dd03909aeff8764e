package controller

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestProgram checks that users see the cells of a program and can interrupt them, from the first
// front end and from one that has attached, and that the cells of users are not announced.
func TestProgram(t *testing.T) {
	runtimeDir(t)
	var mu sync.Mutex
	var notices []string
	s, err := Launch(context.Background(), session.Config{Ranks: 2, Notice: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		notices = append(notices, text)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	user := &console{Session: s, t: t, size: 2, c: s.(*controller)}
	var late strings.Builder // the user's front end takes what comes between its cells
	user.evalCell(context.Background(), session.Cell{Source: "let x 7", Name: "in", Line: 1, Late: func(o session.Output) { late.WriteString(o.Text) }})
	front, err := Attach(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	program := &console{Session: front, t: t, size: 2}
	program.want(program.evalCell(context.Background(), session.Cell{Source: "value v", By: "an agent"}), "= [0,1] v\n")
	program.want(program.evalCell(context.Background(), session.Cell{Source: "value v", By: "an agent", Silent: true}), "= [0,1] v\n")
	for _, other := range []session.Session{s, front} {
		ctx, cancel := context.WithTimeout(context.Background(), waitAtMost)
		defer cancel()
		done := make(chan string, 1)
		go func() {
			done <- program.evalCell(ctx, session.Cell{Source: "sleep 60000", Name: "long", By: "an agent"})
		}()
		var stopped string
		soon(t, "the cell runs and is interrupted", func() bool {
			infos, _ := s.Ranks(ctx)
			if infos[0].State != "waiting" && infos[0].State != "running" {
				return false
			}
			stopped, err = other.Interrupt(ctx)
			return true
		})
		if stopped != "long" || err != nil {
			t.Errorf("%q was interrupted, %v", stopped, err)
		}
		program.want(receive(t, "the end of the cell", done), "! [0,1] interrupted long:1: interrupted\n")
	}
	if cell, err := front.Interrupt(context.Background()); cell != "" || err != nil {
		t.Errorf("%q was interrupted, %v, but no cell runs", cell, err)
	}
	program.evalCell(context.Background(), session.Cell{Source: "print \x1b[31mred\a", By: "an agent"})
	long := strings.Repeat("print a\n", announcedLines+3)
	program.evalCell(context.Background(), session.Cell{Source: long, By: "an agent"})
	mu.Lock()
	defer mu.Unlock()
	got := regexp.MustCompile(`\d+\.\d s`).ReplaceAllString(strings.Join(notices, "\n"), "T")
	want := `an agent runs cell 2 (` + "`:stop`" + ` interrupts it):
    value v
cell 2 of an agent is done, after T
an agent runs long (` + "`:stop`" + ` interrupts it):
    sleep 60000
long of an agent has failed: long:1: interrupted
an agent runs long (` + "`:stop`" + ` interrupts it):
    sleep 60000
long of an agent has failed: long:1: interrupted
an agent runs cell 5 (` + "`:stop`" + ` interrupts it):
    print ·[31mred·
cell 5 of an agent is done, after T
an agent runs cell 6 (` + "`:stop`" + ` interrupts it):
    ` + strings.Repeat("print a\n    ", announcedLines) + `… and 3 more lines: ` + "`:history`" + ` shows all
cell 6 of an agent is done, after T`
	if got != want {
		t.Errorf("the users saw\n%s\nwant\n%s", got, want)
	}
	if got := regexp.MustCompile(`\d+\.\d s`).ReplaceAllString(late.String(), "T"); got != want+"\n" {
		t.Errorf("the user's front end was given\n%s\nwant\n%s", got, want)
	}
}
