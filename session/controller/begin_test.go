package controller

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/symmrepl/symmrepl/session/supervisor"
)

// Output that a rank printed before a cell, and that arrives while the cell runs, does not shift
// the rank's lines against the lines of the others.
func TestOldOutputArrivesLate(t *testing.T) {
	c := launch(t, 2)
	file := filepath.Join(t.TempDir(), "now")
	c.eval("1:later " + file + " old")
	reading := c.c.keeper(1).(*supervisor.Supervisor).Reading()
	reading.Lock() // nothing is read
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	soon(t, "rank 1 has printed", func() bool { _, err := os.Stat(file + ".done"); return err == nil })
	shown := make(chan string)
	go func() { shown <- c.eval("print next\nprint last") }()
	soon(t, "the cell runs", func() bool { return c.c.runningCell() != "" })
	reading.Unlock()
	c.want(<-shown, "[1] old\n[0,1] next\n[0,1] last\n")
}

// A stream that user code has redirected is that stream of no run.
func TestNoMarkElsewhere(t *testing.T) {
	c := launch(t, 1)
	file := filepath.Join(t.TempDir(), "out")
	c.eval("direct " + file)
	c.want(c.eval("print there"), "")
	if text, err := os.ReadFile(file); string(text) != "there\n" {
		t.Errorf("%q, %v", text, err)
	}
}
