package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
)

func TestPrompt(t *testing.T) {
	t.Parallel()
	h := newHome(t, 4)
	x := h.terminal("-n", "4", "--device", device())
	x.enter(`fmt.Println("ab" + "cd", symm.WorldSize())`)
	x.expect("[0-3] abcd 4\n")
	x.enter("symm.Rank() % 2")
	x.expect("[0,2] 0\n")
	x.expect("[1,3] 1\n")

	// A cell of several lines. A blank line ends it even if it is incomplete, except in a raw string.
	x.enter("func twice(n int) int {")
	x.expect("... ")
	x.send("return 2 * n\r")
	x.expect("... ")
	x.send("}\r")
	x.enter("twice(21)")
	x.expect("[0-3] 42\n")
	x.enter("func broken() {")
	x.expect("... ")
	x.send("\r")
	x.expect("cell[")
	x.enter("s := `a")
	x.expect("... ")
	x.send("\r")
	x.expect("... ")
	x.send("b`; len(s)\r")
	x.expect("[0-3] 4\n")

	// The session shows a value of the API's types both as a value and as a variable.
	x.expect("symm> ")
	x.send("h := symm.Rendezvous(symm.Empty(symm.F32, 3)); grid := symm.Grid(8)\r")
	x.enter("h")
	x.expect("[0-3] handle of f32[3] in world\n")
	x.enter(":vars")
	x.expect("h     *symm.Handle ")
	x.expect("handle of f32[3] in world\n")
	x.expect("grid  symm.GridSize ")
	x.expect("grid 8\n")

	// Ctrl-C at the prompt clears the line, and the earlier lines of the same cell.
	x.expect("symm> ")
	x.send("panic(1)")
	x.send(ctrlC)
	x.expect("^C")
	x.enter("if true {")
	x.expect("... ")
	x.send(ctrlC)
	x.enter("twice(4)")
	x.expect("[0-3] 8\n")

	x.enter(":on 0,2")
	x.expect("symm[0,2]> ")
	x.send("symm.Rank() * 10\r")
	x.expect("[0] 0\n")
	x.expect("[2] 20\n")
	x.expect("symm[0,2]> ")
	x.send(":on all\r")

	x.enter("number := 7")
	x.enter(":vars")
	x.expect("0-3")
	x.expect("number")
	x.expect("7")
	x.enter(":nosuch")
	x.expect(`no command is called "nosuch"`)
	x.enter("$ echo $((6 * 7))")
	x.expect("42\n")

	// Completion.
	x.expect("symm> ")
	x.send("fmt.Sprintl" + tab)
	x.expect("fmt.Sprintln")
	x.send("(5 + 6)\r")
	x.expect(`"11\n"`)

	// Completion also ignores case, and knows a local name in an incomplete function.
	x.expect("symm> ")
	x.send("fmt.sprintl" + tab)
	x.expect("fmt.Sprintln")
	x.send("(6 + 6)\r")
	x.expect(`"12\n"`)
	x.enter("func local(count int) int {")
	x.expect("... ")
	x.send("return cou" + tab + " + 1\r")
	x.expect("... ")
	x.send("}\r")
	x.enter("local(30)")
	x.expect("[0-3] 31\n")

	// An error in a cell has a caret below its column.
	x.enter(`number + "x"`)
	x.expect("cell[")
	x.expect("[0-3]     number + \"x\"\n")
	x.expect("^~~~~~\n")

	x.expect("symm> ")
	x.send(ctrlD)
	x.expect("1 symmetric tensor (12 bytes on each rank) would be lost")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
	h.expectNothingLeft()
}

func TestPasteKeepsBlankLinesAndTabs(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	x := h.terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	x.send("\x1b[200~func area(w, h int) int {\r\n\tarea := w * h\r\n\r\n\treturn area\r\n}\x1b[201~\r")
	x.enter("area(6, 7)")
	x.expect("42\n")
	x.refuse("error")
}

func TestHistoryAcrossSessions(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	x := h.terminal("-n", "1", "--device", device())
	x.enter("6 * 7")
	x.expect("42\n")
	x.enter(":quit")
	x.exit(0)

	x = h.terminal("-n", "1", "--device", device())
	x.expect("symm> ")
	x.send(up + up)
	x.expect("6 * 7")
	x.send("\r")
	x.expect("42\n")
	x.send(ctrlD)
	x.exit(0)

	info, err := os.Stat(filepath.Join(h.dir, "state", "symmrepl", "history"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the history's mode is %o", mode)
	}
}

// A rank waits for a signal that no rank sends. The session says so without being asked, Ctrl-C
// ends the cell, tensors are unchanged, and the next cell works.
func TestInterruptHangingWait(t *testing.T) {
	t.Parallel()
	x := newHome(t, 4).terminal("-n", "4", "--device", device())
	x.enter("t := symm.Empty(symm.I32, 4); t.Fill(symm.Rank()); h := symm.Rendezvous(t)")
	x.enter("if symm.Rank() == 2 { h.WaitSignal(3, 5); symm.Synchronize() }")
	hung := time.Now()
	x.expect("wait_signal")
	x.expect("channel 5")
	if took := time.Since(hung); took > pace.Unhurried(2500*time.Millisecond) {
		t.Errorf("the hang was explained after %v", took)
	}
	x.send(ctrlC)
	interrupted := time.Now()
	x.expect("[2] ")
	x.enter("t.Ints()[3] + 100")
	if took := time.Since(interrupted); took > pace.Unhurried(2*time.Second) {
		t.Errorf("the interrupt took %v", took)
	}
	for rank := range 4 {
		x.expect(fmt.Sprintf("[%d] %d\n", rank, 100+rank))
	}
	x.enter("if symm.Rank() == 3 { h.PutSignal(2, 5) }; if symm.Rank() == 2 { h.WaitSignal(3, 5) }; symm.Synchronize()")
	x.enter(`symm.OneShotAllReduce(t, "sum").Ints()[0]`)
	x.expect("[0-3] 6\n")
}

func TestInterruptEndlessLoop(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter("x := 5")
	x.enter(`fmt.Println("it", "runs"); for { }`)
	x.expect("[0,1] it runs\n")
	x.send(ctrlC)
	x.expect("interrupt")
	x.enter("x + 1")
	x.expect("[0,1] 6\n")
}

// If a rank does not react to Ctrl-C, a second Ctrl-C replaces it.
func TestSecondCtrlC(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter("x := 5")
	x.stuck(1, syscall.SIGSTOP)
	x.send(ctrlC)
	interrupted := time.Now()
	x.expect("^C interrupting")
	x.send(ctrlC)
	x.expect("replacing rank 1, which is still busy")
	x.expect("rank 1 was restarted")
	x.enter(":on 0 x + 1")
	x.expect("[0] 6\n")
	if took := time.Since(interrupted); took > pace.Unhurried(2500*time.Millisecond) {
		t.Errorf("the prompt came back after %v", took)
	}
	x.enter("symm.WorldSize() + 40")
	x.expect("[0,1] 42\n")
}

func TestKilledWorkerAtPrompt(t *testing.T) {
	t.Parallel()
	h := newHome(t, 3)
	x := h.terminal("-n", "3", "--device", device())
	x.enter("x := 3")
	pid := x.pid(1)
	x.expect("symm> ")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience()); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the killed worker is still there")
		}
	}
	x.send("fmt.Println(10 * 10 + symm.WorldSize())\r")
	x.expect("rank 1")
	x.expect("103\n")
	x.enter(":vars")
	x.expect("\n0,2")
	x.expect("x")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
	h.expectNothingLeft()
}

// The death of an idle worker is told above the prompt while a line is typed, which stays; the cell
// does not tell it again.
func TestIdleDeathAbovePrompt(t *testing.T) {
	t.Parallel()
	x := newHome(t, 3).terminal("-n", "3", "--device", device())
	pid := x.pid(1)
	x.expect("symm> ")
	x.send(`fmt.Println("typed `)
	x.expect(`fmt.Println("typed `)
	signalTo(t, pid, syscall.SIGKILL)
	x.expect("symmrepl: rank 1 was killed (SIGKILL) while no cell ran: a fresh worker takes over, variables are lost there")
	x.expect(`symm> fmt.Println("typed `)
	x.mu.Lock()
	told := x.seen
	x.mu.Unlock()
	x.send(`half", 10 * 10 + symm.WorldSize())` + "\r")
	x.expect("typed half 103\n")
	x.mu.Lock()
	defer x.mu.Unlock()
	if again := x.shown.Bytes()[told:x.seen]; bytes.Contains(again, []byte("was killed")) {
		t.Errorf("the cell tells the death again:\n%s", again)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter("x := 30 + symm.Rank()")
	x.enter(":restart 1")
	x.expect("rank 1 was restarted")
	x.enter("x")
	x.expect("[0] 30\n")
	x.expect("[1] cell[2]:1:1: undefined: x\n")
	x.enter(":ranks")
	x.expect("\n1 ")
	x.expect(" 2 ") // the second worker of rank 1
	x.enter(":restart replay")
	x.expect("rank 0,1 was restarted: a fresh worker took over\n")
	x.enter("x + 10")
	x.expect("[0] 40\n")
	x.expect("[1] 41\n")

	// A restart of all ranks discards all earlier cells: none of them is replayed, not even the
	// cell that hung.
	x.enter(`fmt.Println("it", "hangs"); select {}`)
	x.expect("[0,1] it hangs\n")
	x.send(ctrlC)
	x.enter(":restart")
	x.expect("[0,1] rank 0,1 was restarted: a fresh worker took over, variables are lost there\n")
	x.enter("x")
	x.expect("undefined: x\n")
	x.expect("ranks 0,1 were restarted after cell 4, which lost x there: enter the cell")
	x.enter("y := 50")
	x.enter(":restart replay")
	x.expect("the replay leaves out cell 5, which failed\n")
	x.enter("y + symm.Rank()")
	x.expect("[0] 50\n")
	x.expect("[1] 51\n")
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		do     func(*terminal)
		status int
	}{
		"Ctrl-D":  {func(x *terminal) { x.send(ctrlD); x.expect("would be lost"); x.expect("symm> "); x.send(ctrlD) }, 0},
		"SIGTERM": {func(x *terminal) { x.cmd.Process.Signal(syscall.SIGTERM) }, 128 + 15},
		"SIGHUP":  {func(x *terminal) { x.cmd.Process.Signal(syscall.SIGHUP) }, 128 + 1},
		"SIGKILL": {func(x *terminal) { x.cmd.Process.Kill() }, -1},
		// As NVRTC does while it compiles.
		"SIGKILL while a library has SIGTERM": {func(x *terminal) {
			x.send("signal.Reset(syscall.SIGTERM); fmt.Println(\"it\", \"does\")\r")
			x.expect("[0,1] it does\n")
			x.cmd.Process.Kill()
		}, -1},
		"SIGTERM while a cell runs": {func(x *terminal) {
			x.send("fmt.Println(\"it\", \"runs\"); select {}\r")
			x.expect("[0,1] it runs\n")
			x.cmd.Process.Signal(syscall.SIGTERM)
		}, 128 + 15},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, 2)
			x := h.terminal("-n", "2", "--device", device())
			x.enter("symm.Rendezvous(symm.Empty(symm.U8, 1 << 20)).BufferSize()")
			x.expect("1048576\n")
			x.expect("symm> ")
			names := h.sharedMemory()
			end.do(x)
			x.exit(end.status)
			h.expectNothingLeft()
			for _, name := range names {
				if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is left: %v", name, err)
				}
			}
		})
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	x := h.terminal("-n", "2", "--device", device())
	x.enter("shared := 40")
	x.expect("symm> ")
	y := h.terminal("attach")
	y.enter("shared += 2")
	y.enter("shared")
	y.expect("[0,1] 42\n")
	y.expect("symm> ")
	y.send(ctrlD)
	y.exit(0)
	x.send("shared * 10\r")
	x.expect("[0,1] 420\n")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
	h.expectNothingLeft()
}

// The variables can be listed while a cell waits. The list then reads no tensor, because the read
// might wait too.
func TestVarsWhileWaiting(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	x := h.terminal("-n", "2", "--device", device(), "--deadlock", "wait") // the wait may end before the other terminal is there
	x.enter("t := symm.Empty(symm.F32, 2, 3).Fill(1); h := symm.Rendezvous(t)")
	x.enter(`if symm.Rank() == 0 { fmt.Println("it", "waits"); h.WaitSignal(1, 0); symm.Synchronize() }`)
	x.expect("[0] it waits\n")
	y := h.terminal("attach")
	y.enter(":vars")
	y.expect("*symm.Tensor  24 B ")
	y.expect("f32[2, 3], not read while a cell runs\n")
	y.expect("symm> ")
	y.send(ctrlD)
	x.send(ctrlC)
	x.enter("t.Numel()")
	x.expect("[0,1] 6\n")
}

func TestColoursOnTerminal(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device(), "-e", `fmt.Println("text")`)
	x.exit(0)
	x.expect("[0,1] text\n")
	x.mu.Lock()
	defer x.mu.Unlock()
	if !strings.Contains(x.raw.String(), "\x1b[2m[0,1] \x1b[0m") {
		t.Errorf("the output has no colours: %s", strconv.Quote(x.raw.String()))
	}
}

func TestInputIsColoured(t *testing.T) {
	t.Parallel()
	for _, coloured := range []bool{true, false} {
		h := newHome(t, 1)
		if !coloured {
			h.env = []string{"NO_COLOR=1"}
		}
		x := h.terminal("-n", "1", "--device", device())
		x.enter(`var text = "a" + "b"`)
		x.enter("text")
		x.expect("\"ab\"\n")
		x.enter("(7)")
		x.expect("7\n")
		x.mu.Lock()
		if got := strings.Contains(x.raw.String(), "\x1b[34mvar\x1b[0m text = \x1b[32m\"a\"\x1b[0m + \x1b[32m\"b\"\x1b[0m"); got != coloured {
			t.Errorf("with colours %v: %s", coloured, strconv.Quote(x.raw.String()))
		}
		if got := strings.Contains(x.raw.String(), "(\x1b[36m7\x1b[0m)\r\n"); got != coloured { // an entered line does not highlight brackets
			t.Errorf("the entered line, with colours %v: %s", coloured, strconv.Quote(x.raw.String()))
		}
		x.mu.Unlock()
	}
}
