package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/symmrepl/symmrepl/internal/needs"
)

// editing starts the program on one rank. The environment variable names line as the editor.
func editing(t *testing.T, variable, line string) *terminal {
	h := newHome(t, 1)
	h.env = append(h.env, "VISUAL=", "EDITOR=", variable+"="+line)
	return h.terminal("-n", "1", "--device", device())
}

// After :edit an edited cell runs as a new one. A cell that was not changed, or whose editor
// failed, does not run.
func TestEdit(t *testing.T) {
	t.Parallel()
	refuse := filepath.Join(t.TempDir(), "refuse")
	x := editing(t, "EDITOR", editor(t, `test ! -e `+refuse+` || exit 3; sed -i s/^6/7/ "$1"`))
	x.enter("6 * 6")
	x.expect("36\n")
	x.enter("1 + 1")
	x.expect("2\n")
	x.enter(":edit 1")
	x.expect("7 * 6\n")
	x.expect("42\n")
	x.expect("symm> ")
	x.send(up + "\r") // the edited cell is recalled
	x.expect("7 * 6\n")
	x.expect("42\n")
	x.enter(":edit")
	x.expect("nothing was run: the cell is as it was\n")
	x.enter(":edit new")
	x.expect("nothing was run: the cell is empty\n")
	x.enter(":edit 77")
	x.expect("there is no cell 77")
	x.enter("$ touch " + refuse)
	x.enter(":edit 1")
	x.expect("nothing was run: ")
	x.expect("it ended with status 3\n")
	x.enter("$ rm " + refuse)
	x.enter("%%rank [0]")
	x.expect("... ")
	x.send("60 + symm.Rank()\r")
	x.expect("60\n")
	x.enter(":edit")
	x.expect("%%rank [0]\n70 + symm.Rank()\n70\n")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
}

// An interactive editor gets the terminal with the shell's settings, so that its keys and signals
// work. The editor's changes to the terminal are undone.
func TestEditAtTheTerminal(t *testing.T) {
	t.Parallel()
	t.Run("ed", func(t *testing.T) {
		x := editing(t, "VISUAL", needs.Program(t, "ed"))
		x.enter("6 * 6")
		x.expect("36\n")
		x.enter(":edit")
		x.expect("6\n") // the size of the file in bytes
		x.send("=\n")   // wait until ed reads commands: before that, Ctrl-C ends it
		x.expect("=\n1\n")
		x.send(ctrlC)        // neither ed nor the session ends
		x.expect("?\n")      // ed's answer
		x.send("s/6 /7 /\n") // the terminal edits the typed line
		x.send("wq\n")
		x.expect("7 * 6\n42\n")
		x.enter("40 + 4")
		x.expect("44\n")
		x.expect("symm> ")
		x.send(ctrlD)
		x.exit(0)
	})
	t.Run("vi", func(t *testing.T) {
		x := editing(t, "EDITOR", needs.Program(t, "vi")+" -u NONE")
		x.enter("6 * 6")
		x.expect("36\n")
		x.enter(":edit")
		x.expect("6 * 6")
		x.send("x")
		x.send("\x1a") // Ctrl-Z suspends vi, and the session continues it at once
		x.send("i7\x1b:wq\r")
		x.expect("7 * 6\n42\n")
		x.enter(":edit")
		x.expect("7 * 6")
		x.send("x:cq\r")
		x.expect("nothing was run: ")
		x.enter("40 + 4")
		x.expect("44\n")
		x.expect("symm> ")
		x.send(ctrlD)
		x.exit(0)
	})
	t.Run("killed", func(t *testing.T) {
		x := editing(t, "EDITOR", editor(t, `stty raw -echo; kill -TSTP 0; echo continued; kill -KILL 0`))
		x.enter(":edit")
		x.expect("continued")
		x.expect("nothing was run: ")
		x.expect("it was ended by a signal: killed\n")
		x.enter("40 + 4")
		x.expect("44\n")
		x.expect("symm> ")
		x.send(ctrlD)
		x.exit(0)
	})
	t.Run("ended", func(t *testing.T) {
		x := editing(t, "EDITOR", editor(t, `trap '' HUP; stty raw -echo; echo edits; sleep 60`))
		x.enter(":edit")
		x.expect("edits")
		if err := x.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		x.exit(130)
	})
}
