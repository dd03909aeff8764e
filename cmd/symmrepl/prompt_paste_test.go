package main

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// pasted returns text as a terminal sends it if it is pasted.
func pasted(text string) string {
	return "\x1b[200~" + strings.ReplaceAll(text, "\n", "\r") + "\x1b[201~"
}

// Pasted text is one entry, which waits for Enter and can be edited before.
func TestPasteIsOneEntry(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.expect("symm> ")
	x.send(pasted("early := 20\nlate := 22\nfmt.Println(`sum`, early+late)\n\n"))
	x.expect("early := 20\n      late := 22\n      fmt.Println(`sum`, early+late)")
	x.send(ctrlC)
	x.enter("early")
	x.expect("cell[1]:1:1: undefined: early\n") // nothing has run
	x.expect("symm> ")
	x.send(pasted("early := 20\n\nlate := 22\nfmt.Println(`sum`, early+late)") + "\x7f*2)\r")
	x.expect("\n[0,1] sum 64\n")
	x.expect("symm> ")
	x.send(up)
	x.expect("early+late*2)") // all of it is one entry of the history
	x.send(ctrlC)

	// With a mistake it is one cell as well, and so is a paste within a longer entry.
	x.expect("symm> ")
	x.send(pasted("fmt.Println(`no`+`thing`)\nnosuch()\n") + "\r")
	x.expect("cell[3]:2:1: undefined: nosuch\n")
	x.enter("if true {")
	x.expect("  ... ")
	x.send(pasted("\tfmt.Println(`a`+`b`)\n\n\tfmt.Println(`c`+`d`)\n}\n") + "\r")
	x.expect("\n[0,1] ab\n[0,1] cd\n")

	// The first lines of a paste may be commands, and a command takes a paste as its code.
	x.expect("symm> ")
	x.send(pasted(":on 1\nat := symm.Rank()\nfmt.Println(`at`, at)\n") + "\r")
	x.expect("\n[1] at 1\n")
	x.expect("symm[1]> ")
	x.send(":on all\r")
	x.expect("symm> ")
	x.send(":on 0 " + pasted("for i := range 2 {\n\tfmt.Println(`i`, i)\n}\n") + "\r")
	x.expect("\n[0] i 0\n[0] i 1\n")
	x.refuse("nothing\n")
}

// Keys that arrive together are typed, if the terminal does not mark them as pasted: each line is an entry.
func TestTypedAheadIsNoPaste(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	x.send("n := 6\rfmt.Println(`n`, n)\rif n > 5 {\rfmt.Println(`more`)\r}\rnosuch()\r")
	x.expect("\nn 6\n")
	x.expect("\nmore\n")
	x.expect("cell[4]:1:1: undefined: nosuch\n")
}

// A paste while a cell runs waits for the prompt, unless the cell reads from standard input. A Ctrl-C in
// it interrupts nothing.
func TestPasteWhileCellRuns(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter("fmt.Println(`it`, `runs`); time.Sleep(time.Second); fmt.Println(`it`, `ends`)")
	x.expect("it runs\n")
	x.send(pasted("one := 1\ntwo := 2\x03\n"))
	x.expect("it ends\n")
	x.expect("symm> one := 1\n      two := 2")
	x.send("; one + two\r")
	x.expect("\n3\n")
	x.enter("var first, second string; fmt.Print(`names? `); fmt.Scanln(&first); fmt.Scanln(&second); fmt.Println(second, first)")
	x.expect("names? ")
	x.send(pasted("ada\nbea\n"))
	x.expect("\nbea ada\n")
}

// A paste during a search is a part of what is searched for.
func TestPasteInSearch(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter("fmt.Println(`fi`+`rst`)")
	x.enter("fmt.Println(`sec`+`ond`)")
	x.expect("second\n")
	x.expect("symm> ")
	x.send("\x12fmt" + pasted(".Println(`fi`\n") + "\r")
	x.expect("\nfirst\n")
}

// A paste of which the end is lost takes the keys that follow, until Ctrl-C drops it. The prompt says so.
func TestPasteWithoutEnd(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	x.send("\x1b[200~fmt.Println(`pas`+`ted`)\r")
	x.expect("the end of a pasted text has not come: Ctrl-C drops the text\n")
	x.send(ctrlC)
	x.expect("^C\n")
	x.enter("6 * 7")
	x.expect("42\n")
	x.refuse("\npasted\n")
}

// Long pastes run whole; those that no cell can hold are refused.
func TestLongPaste(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 12, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // the program polls the size
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "sum += %5d /* a line of the pasted text */\n", i)
	}
	x.send(pasted("sum := 0\n" + text.String()))
	x.expect("sum +=  2999 /* a line of the pasted text */")
	x.send("; fmt.Println(`sum`, sum)\r")
	x.expect("\nsum 4498500\n")
	x.mu.Lock()
	// The last rows are painted, and all of them once more at Enter.
	if n := strings.Count(x.shown.String(), "sum +=  1000 "); n != 1 {
		t.Errorf("a line above the screen was painted %d times", n)
	}
	x.mu.Unlock()
	x.expect("symm> ")
	x.send(pasted("s := `" + strings.Repeat("s", 17<<20) + "`"))
	x.expect("a pasted text of 17825799 bytes is dropped, a cell may have 16777216: `:load FILE` runs a file")
	x.send("6 * 7\r")
	x.expect("\n42\n")
}

// The terminal marks pasted text while the prompt has it only: not for the user's editor, and not for the
// shell after the session.
func TestPasteModeEnds(t *testing.T) {
	t.Parallel()
	const on, off = "\x1b[?2004h", "\x1b[?2004l"
	for name, end := range map[string]func(*terminal){
		"Ctrl-D":                     func(x *terminal) { x.send(ctrlD) },
		":quit":                      func(x *terminal) { x.send(":quit\r") },
		"SIGTERM":                    func(x *terminal) { x.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":                     func(x *terminal) { x.cmd.Process.Signal(syscall.SIGHUP) },
		"SIGTERM while a cell runs":  func(x *terminal) { x.send("select {}\r"); x.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGTERM within a paste":     func(x *terminal) { x.send("\x1b[200~a"); x.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGTERM while a cell reads": func(x *terminal) { x.send("var s string; fmt.Scan(&s)\r"); x.cmd.Process.Signal(syscall.SIGTERM) },
		"os.Exit of the only rank":   func(x *terminal) { x.send("import \"os\"; os.Exit(0)\r"); x.expect("exited"); x.send(ctrlD) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, 1)
			cmd := h.command("-n", "1", "--device", device())
			cmd.Env = append(cmd.Environ(), "EDITOR=:") // a shell's command that does nothing
			x := h.terminalOf(cmd)
			x.enter(":edit new")
			x.expect("symm> ")
			x.mu.Lock()
			raw := x.raw.String()
			x.mu.Unlock()
			if i := strings.Index(raw, off); i < 0 || !strings.Contains(raw[:i], on) || !strings.Contains(raw[i:], on) {
				t.Errorf("an editor gets marks around pasted text: %q", raw)
			}
			end(x)
			x.cmd.Wait()
			for deadline := time.Now().Add(patience()); ; time.Sleep(time.Millisecond) {
				x.mu.Lock()
				ended := bytes.LastIndex(x.raw.Bytes(), []byte(off)) > bytes.LastIndex(x.raw.Bytes(), []byte(on))
				x.mu.Unlock()
				if ended {
					return
				}
				if time.Now().After(deadline) {
					t.Fatal("the terminal still marks pasted text")
				}
			}
		})
	}
}
