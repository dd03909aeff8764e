package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

var (
	typingSeed = flag.Uint64("typing.seed", 1, "seed of TestTyping's random keys")
	typingFor  = flag.Duration("typing.for", 2*time.Second, "how long TestTyping types")
)

// alive checks that the prompt reads and runs an entry, whatever the current line holds.
func (x *terminal) alive(n int) {
	x.t.Helper()
	x.send(ctrlC + ctrlC)
	x.send(fmt.Sprintf("fmt.Println(%d+1, `alive`)\r", n))
	x.expect(fmt.Sprintf("\n%d alive\n", n+1))
}

// These keys once ended the program or the session, or left a menu on the screen.
func TestKeysThatTheEditorGetsWrong(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	for i, keys := range []string{
		"a\x14b", "a\x14\x15", "\x14", "ab\x14\x14\x01\x14", // Ctrl-T
		"\x1b[3~", "a\x7f\x1b[3~", "\x1b[3~\x1b[3;5~", // Delete on an empty line
		"\x12\x07", "\x12\x03", "\x12zz\x12\x13\x7f\x7f\x12", // Ctrl-R
		"x\x1b\x14y", "\x16\x18\x11\x0f\x1dz", "\x1b[", "\x1b", "\x1bO",
		"fmt.Spr\t\t\t\x0b\x05\x01", "fmt.Sp\t\t\x01\x05\x0e\x10\x0b", "fmt.Sp\t\t\x7f\x7f\x7f\x7f\x7f", "fmt.Sp\t\t\r",
	} {
		x.send(keys)
		x.alive(100 * (i + 1))
	}
	// Delete deletes a character, and Ctrl-T transposes two as in a shell.
	x.send("fmt.Println(`abX`)\x02\x02\x02\x1b[3~\r")
	x.expect("\nab\n")
	x.send("fmt.Println(`abdc`)\x02\x02\x02\x14\r")
	x.expect("\nabcd\n")
}

// The narrowest screens, and a screen that becomes narrow while a menu of completions is shown.
func TestKeysOnNarrowScreen(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	for i, columns := range []uint16{20, 6, 3, 1, 80} {
		x.send("strings.T\t\t")
		if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 10, Cols: columns}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond) // the program polls the size
		x.send("\x0e\x10\x01\x05\t\t\x1b\rab\t\x14\x0b\x1b[A\x1b[A")
		if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 10, Cols: 200}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		x.alive(100 * (i + 1))
	}
}

// editorFailed is the prompt's message after the line editor has panicked.
const editorFailed = "the line editor failed and has started again"

// A panic of the line editor loses only its menu: a new editor goes on with the line. This editor
// panics because its screen has no row for the menu after Down has left the list of completions.
func TestEditorThatPanics(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter("6 * 7")
	x.expect("42\n")
	x.expect("symm> ")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 3, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	x.send("fmt.Println(`a\x1b\rb`); strings.T\t\t" + strings.Repeat("\x1b[B", 100) + "\r")
	x.expect(editorFailed)
	x.expect("symm> fmt.Println(`a\n      b`); strings.T")
	x.send(strings.Repeat("\x7f", len("strings.T")) + "\r")
	x.expect("\na\nb\n")
	x.expect("symm> ")
	x.send(up + up + up + "\r") // to the last line of the block, to its first line, to the previous entry
	x.expect("\n42\n")
}

// Random keys never end the session, and after them it can still run a cell. -typing.for=10m
// searches longer.
func TestTyping(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	t.Logf("seed %d", *typingSeed)
	r := rand.New(rand.NewPCG(*typingSeed, 0))
	pieces := []string{
		"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1bOA", "\x1bOD", "\x1b[3~", "\x1b[1~", "\x1b[4~", "\x1b[1;5C",
		"\x1b[1;5D",
		"\x1bb", "\x1bf", "\x1bd", "\x1b\x7f", "\x1b\r", "\x1b", "\x1b[200~", "\x1b[201~", "\x1b]0;t\a", "\x1b[6;7R", "\x1bP", "\t", "\t\t",
		"\r",
		"fmt.", "symm.", "x := `", "é漢😀", "for {}"[:3], "{", "}", "(", "\n", "\xff", "\xe6\xbc", "if true {\r1\r}\r",
	}
	n := 0
	for end := time.Now().Add(*typingFor); time.Now().Before(end); n++ {
		var keys strings.Builder
		for range 1 + r.IntN(40) {
			if r.IntN(2) == 0 {
				keys.WriteString(pieces[r.IntN(len(pieces))])
			} else if b := byte(r.IntN(128)); b != 0x04 {
				keys.WriteByte(b)
			}
		}
		typed := keys.String()
		if _, err := x.pty.WriteString(typed); err != nil {
			t.Fatalf("after %q: %v", typed, err)
		}
		x.send("\a\x1b[201~" + ctrlC + ctrlC + "\r" + ctrlC + "\r")
		x.send(fmt.Sprintf("fmt.Println(%d+1, `alive`)\r", n*1000))
		done := fmt.Sprintf("\n%d alive\n", n*1000+1)
		deadline := time.Now().Add(patience())
		for shown := false; !shown; time.Sleep(2 * time.Millisecond) {
			x.mu.Lock()
			shown = strings.Contains(x.shown.String()[x.seen:], done)
			if strings.Contains(x.shown.String(), editorFailed) {
				t.Fatalf("the line editor panics after %q", typed)
			}
			if shown {
				x.raw.Reset()
				x.shown.Reset()
				x.lines, x.seen = [2]int{}, 0
			}
			x.mu.Unlock()
			if !shown && time.Now().After(deadline) {
				t.Fatalf("the prompt runs no cell after %q", typed)
			}
		}
	}
	t.Logf("%d sequences", n)
}

// Leaving asks once if symmetric tensors are alive. It does not ask if there are none, nor when an
// attached prompt leaves, because the session goes on.
func TestLeavingAsksOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	x := h.terminal("-n", "2", "--device", device())
	x.enter("t := symm.Empty(symm.F32, 4)")
	x.expect("symm> ")
	y := h.terminal("attach")
	y.expect("symm> ")
	y.send(ctrlD)
	y.exit(0)
	const question = "1 symmetric tensor (16 bytes on each rank) would be lost: Ctrl-D again or :quit! leaves"
	x.send(ctrlD)
	x.expect(question)
	x.enter("40 + 2")
	x.expect("[0,1] 42\n")
	x.enter(":quit")
	x.expect(question)
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)

	x = h.terminal("-n", "2", "--device", device())
	x.enter("t := symm.Empty(symm.F32, 4)")
	x.enter(":quit!")
	x.exit(0)

	x = h.terminal("-n", "2", "--device", device())
	x.enter("t := symm.Empty(symm.F32, 4); t.Free()")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
	x.refuse("would be lost")
}

// Up recalls a cell of several lines, and the keys edit it as a block.
func TestRecalledCellIsABlock(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	x := h.terminal("-n", "1", "--device", device())
	x.enter("func double(n int) int {")
	x.expect("... ")
	x.send("\treturn 2 * n\r")
	x.expect("... ")
	x.send("}\r")
	x.enter("double(21)")
	x.expect("42\n")
	x.expect("symm> ")
	x.send(up + up + up + "\x1b[C") // to the call, to the function's last line, to the line above
	x.expect("return 2 * n")
	x.send("\x1b[F\x7f\x7f\x7f\x7f\x7f3 * n\r")
	x.enter("double(21)")
	x.expect("63\n")

	// Alt-Enter breaks a line, and Backspace joins two lines.
	x.expect("symm> ")
	x.send("fmt.Println(`a\x1b\rb\x1b\rc`)\x1b[D\x1b[D\x1b[D\x7f\r")
	x.expect("\na\nbc\n")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)

	x = h.terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	x.send(up + up + up + up)
	x.expect("return")
	x.send("\r")
	x.enter("double(30)")
	x.expect("90\n")
}

// The first Ctrl-C clears the line, also while a menu of completions is shown.
func TestInterruptAfterTab(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	x.send("strings.T" + tab + tab)
	x.expect("ToUpper")
	x.send(ctrlC + "40 + 2\r")
	x.expect("\n42\n")
	x.refuse("undefined")
}

// Home, End and the keys that move by words, with the sequences of xterm, tmux, screen and rxvt.
func TestCursorKeys(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	n := 100
	for _, keys := range [][2]string{{"\x1b[H", "\x1b[F"}, {"\x1bOH", "\x1bOF"}, {"\x1b[1~", "\x1b[4~"}, {"\x1b[7~", "\x1b[8~"}} {
		n++
		x.send(fmt.Sprintf("Println(%d%sfmt.%s)\r", n, keys[0], keys[1]))
		x.expect(fmt.Sprintf("\n%d\n", n))
	}
	for _, keys := range [][2]string{{"\x1b[1;5D", "\x1b[1;5C"}, {"\x1b[1;3D", "\x1b[1;3C"}, {"\x1bb", "\x1bf"}, {"\x1bOd", "\x1bOc"}} {
		n++
		x.send(fmt.Sprintf("fmt.Println(9 + %d)%s%s1 + %s%s0 + \r", n, keys[0], keys[0], keys[0], keys[1]))
		x.expect(fmt.Sprintf("\n%d\n", n+10))
	}
}
