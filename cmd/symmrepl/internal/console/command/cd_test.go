package command

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// folders makes folders in a new temporary folder, changes to it, and returns its name.
func folders(t *testing.T, names ...string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(top)
	return top
}

// Each :cd is a cell of all ranks with the full name of the folder. Later shell lines run in that
// folder.
func TestCd(t *testing.T) {
	top := folders(t, "data/deep", "home/own", "home/with space")
	t.Setenv("HOME", top+"/home")
	c, fake, out := newConsole()
	var cells []string
	c.Run(context.Background(), ":on 2")
	for _, step := range []struct{ entry, folder string }{
		{"%cd data", "/data"},
		{":cd deep/", "/data/deep"},
		{":cd .", "/data/deep"},
		{":cd ../..", ""},
		{":cd " + top + "/data", "/data"},
		{":cd", "/home"},
		{":cd ~/own", "/home/own"},
		{":cd \"../with space\"", "/home/with space"},
		{"%%cd \"" + top + "/data\"\n", "/data"},
	} {
		cells = append(cells, top+step.folder)
		for _, entry := range []string{step.entry, "$ pwd"} {
			if got := c.Run(context.Background(), entry); got != console.Done {
				t.Errorf("%s: outcome %v: %s", entry, got, out)
			}
		}
		if want := top + step.folder + "\n"; out.String() != want {
			t.Errorf("%s: now in %q, want %q", step.entry, out, want)
		}
		out.Reset()
	}
	var got []string
	for _, cell := range fake.Cells {
		got = append(got, cell.Folder)
		if cell.Source != "" || cell.Ranks != nil || cell.Silent {
			t.Errorf("%+v", cell)
		}
	}
	if !reflect.DeepEqual(got, cells) {
		t.Errorf("cells %q, want %q", got, cells)
	}
}

// A folder that does not exist on this host is refused before any rank is asked. If a rank cannot
// change to the folder, the console does not change either.
func TestCdFails(t *testing.T) {
	top := folders(t, "data")
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, fake, out := newConsole()
	for entry, want := range map[string]string{
		":cd nowhere": ":cd: stat " + top + "/nowhere: no such file or directory\n",
		":cd file":    ":cd: " + top + "/file is not a folder\n",
	} {
		if got := c.Run(context.Background(), entry); got != console.Failed || out.String() != want || len(fake.Cells) > 0 {
			t.Errorf("%s: outcome %v after %d cells: %q, want %q", entry, got, len(fake.Cells), out, want)
		}
		out.Reset()
	}
	fake.OnEval = func(session.Cell) session.Reply {
		return session.Reply{Errors: []*session.Error{{Ranks: []int{3}, File: "cell[1]", Line: 1, Msg: "chdir"}}}
	}
	if got := c.Run(context.Background(), ":cd data"); got != console.Failed || out.String() != "[3] cell[1]:1: chdir\n" {
		t.Errorf("outcome %v: %s", got, out)
	}
	out.Reset()
	if c.Run(context.Background(), "$ pwd"); out.String() != top+"\n" {
		t.Errorf("now in %s", out)
	}
}

// Commands find files, and completion offers files, in the folder of :cd. A loaded file may change
// that folder too.
func TestCdAndFiles(t *testing.T) {
	top := folders(t, "data/deep", "dark")
	t.Setenv("HOME", top+"/data")
	c, fake, out := newConsole()
	for _, entry := range []string{"x", ":cd data", ":save f.go", ":save ~/f.go", ":cd ..", ":load ~/f.go"} {
		c.Run(context.Background(), entry)
	}
	if want := "f.go: 2 cells\n:save: ~/f.go exists; :save! ~/f.go overwrites it\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	if _, err := os.Stat(top + "/data/f.go"); err != nil || len(fake.Cells) != 5 {
		t.Errorf("%v; %d cells", err, len(fake.Cells))
	}
	for entry, want := range map[string]string{":load ": "deep/ f.go", "$ cat f": "f.go", ":cd ": "deep/", ":cd ../d": "dark/ data/"} {
		candidates, _ := c.Complete(context.Background(), entry)
		var got []string
		for _, candidate := range candidates {
			got = append(got, candidate.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: offered %q, want %q", entry, got, want)
		}
	}
}

// A restarted rank begins in the session's first folder. If all ranks restart, so does the console.
func TestCdAndRestart(t *testing.T) {
	top := folders(t, "data")
	for entry, want := range map[string]string{
		":restart": "", ":restart all": "", ":restart 0-3": "",
		":restart 1": "/data", ":restart replay": "/data", ":restart all replay": "/data",
	} {
		c, _, out := newConsole()
		for _, e := range []string{":cd data", entry, "$ pwd"} {
			c.Run(context.Background(), e)
		}
		if got := out.String(); got != top+want+"\n" {
			t.Errorf("after %s the folder is %q, want %q", entry, got, top+want)
		}
	}
}
