package controller

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inherit"
	"github.com/symmrepl/symmrepl/session/supervisor"
)

// The report distinguishes a worker that the kernel has killed for lack of memory from one that a
// user has killed.
func TestKilledForMemory(t *testing.T) {
	c := launch(t, 2)
	kills := procfs.OOMKills()
	pid := c.pids()[1]
	c.c.keeper(1).(*supervisor.Supervisor).OOMKills = func() uint64 { // as if the kernel killed this worker
		if info, err := procfs.Of(pid); err != nil || info.Exiting {
			return kills + 1
		}
		return kills
	}
	if shown := c.eval("1:kill 9"); !strings.Contains(shown,
		"the worker was killed (SIGKILL) by the kernel, which had no memory left: it took 0.0 GiB") {
		t.Errorf("shown: %s", shown)
	}
	if shown := c.eval("1:kill 9"); strings.Contains(shown, "no memory left") || !strings.Contains(shown, "was killed (SIGKILL)") {
		t.Errorf("shown: %s", shown)
	}
}

// The trail of a dead worker gives a place in the cell: the position of the statement that ran or,
// if this statement is not in the cell, of the cell's own statement.
func TestTrail(t *testing.T) {
	mine, f, err := inherit.NewMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer mine.Unmap()
	worker, err := inherit.Map(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Unmap()
	cell := session.Cell{Name: "In[4]", Line: 10, Source: "a()\n\tb()\n"}
	for _, c := range []struct{ mark, call, line, column int }{
		{0, 0, 0, 0}, {113, 113, 10, 1}, {118, 113, 11, 2}, {50, 118, 11, 2}, {50, 60, 0, 0}, {500, 0, 0, 0},
	} {
		worker.Trail = session.Trail{Mark: c.mark, Call: c.call, Files: [2]session.TrailFile{1: {Base: 100, Size: 13 + len(cell.Source), Header: 13}}}
		var e session.Error
		placeAt(&e, cell, mine.Offset())
		if e.Line != c.line || e.Column != c.column || (e.File != "") != (c.line > 0) || c.line == 11 && e.Source != "\tb()" {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}
