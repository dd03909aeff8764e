package controller

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// A cell changes the folder of its ranks before its source runs, also in a replay. If a rank cannot
// change, it does not run the source.
func TestFolder(t *testing.T) {
	c := launch(t, 2)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	eval := func(cell session.Cell) string { return c.evalCell(context.Background(), cell) }
	start := eval(session.Cell{Source: "pwd"})
	for _, step := range []struct {
		cell session.Cell
		want string
	}{
		{session.Cell{Folder: folder}, ""},
		{session.Cell{Source: "pwd"}, "= [0,1] " + folder + "\n"},
		{session.Cell{Folder: "/nowhere", Source: "print on"},
			"! [0,1] system cell[4]:1: chdir /nowhere: no such file or directory (make the folder on the host of each rank, or name another one)\n"},
		{session.Cell{Folder: "/", Source: "pwd", Ranks: []int{1}}, "= [1] /\n"},
		{session.Cell{Source: "pwd"}, "= [0] " + folder + "\n= [1] /\n"},
	} {
		if got := eval(step.cell); got != step.want {
			t.Errorf("%+v: %q, want %q", step.cell, got, step.want)
		}
	}
	for _, step := range []struct {
		replay bool
		want   string
	}{
		{true, "= [0] " + folder + "\n= [1] /\n"}, {false, start},
	} {
		if err := c.Restart(context.Background(), nil, step.replay, func(session.Output) {}); err != nil {
			t.Fatal(err)
		}
		if got := eval(session.Cell{Source: "pwd", Silent: true}); got != step.want {
			t.Errorf("replay %v: %q, want %q", step.replay, got, step.want)
		}
	}
}
