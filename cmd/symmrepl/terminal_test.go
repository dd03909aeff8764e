package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// terminal is a program at a pseudo-terminal, and the person in front of it.
type terminal struct {
	t   *testing.T
	pty *os.File
	fd  int // of pty
	cmd *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer // everything, without escape sequences
	seen  int          // up to where expect has looked
	raw   bytes.Buffer
}

// Keys.
const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
	tab   = "\t"
)

var (
	escapes = regexp.MustCompile(`\x1b\[[?0-9;]*[a-zA-Z]|[\r\a]| \x08`) // and the blank and backspace with which the editor wraps a line
	redrawn = regexp.MustCompile(`[^\n]*\x1b\[1G\x1b\[J`)               // what the editor clears to draw its line again
)

// terminal starts the program at a new terminal.
func (h home) terminal(args ...string) *terminal {
	h.t.Helper()
	return h.terminalOf(h.command(args...))
}

// terminalOf is terminal for a program that is started otherwise.
func (h home) terminalOf(cmd *exec.Cmd) *terminal {
	h.t.Helper()
	x := &terminal{t: h.t, cmd: cmd}
	var err error
	x.pty, err = pty.StartWithSize(x.cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		h.t.Fatal(err)
	}
	conn, err := x.pty.SyscallConn()
	if err != nil {
		h.t.Fatal(err)
	}
	conn.Control(func(fd uintptr) { x.fd = int(fd) })
	read := make(chan struct{})
	go x.read(read)
	h.t.Cleanup(func() {
		x.cmd.Process.Kill()
		x.cmd.Wait()
		x.pty.Close()
		<-read
		if h.t.Failed() {
			h.t.Logf("the terminal showed:\n%s", escapes.ReplaceAll(redrawn.ReplaceAll(x.raw.Bytes(), nil), nil))
		}
	})
	return x
}

func (x *terminal) read(done chan<- struct{}) {
	defer close(done)
	buf := make([]byte, 4096)
	for {
		n, err := x.pty.Read(buf)
		x.mu.Lock()
		x.raw.Write(buf[:n])
		x.shown.Reset()
		x.shown.Write(escapes.ReplaceAll(x.raw.Bytes(), nil))
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// send types.
func (x *terminal) send(keys string) {
	x.t.Helper()
	if _, err := x.pty.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// expect waits until text is shown below what was expected before.
func (x *terminal) expect(text string) {
	x.t.Helper()
	x.expectAny(text)
}

// expectAny waits for one of texts: that which is shown first.
func (x *terminal) expectAny(texts ...string) {
	x.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		x.mu.Lock()
		end := -1
		for _, text := range texts {
			if i := strings.Index(x.shown.String()[x.seen:], text); i >= 0 && (end < 0 || i+len(text) < end) {
				end = i + len(text)
			}
		}
		x.seen += max(end, 0)
		x.mu.Unlock()
		if end >= 0 {
			return
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("%q was not shown", texts)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// pid asks a rank for the id of its process.
func (x *terminal) pid(rank int) int {
	x.t.Helper()
	x.enter(fmt.Sprintf(`import "os"; if symm.Rank() == %d { fmt.Println("pid", os.Getpid(), "end") }`, rank))
	x.expect(fmt.Sprintf("[%d] pid ", rank))
	return x.number()
}

// stuck runs a cell that does not end on a rank, and sends that rank's process a signal.
func (x *terminal) stuck(rank int, sig syscall.Signal) {
	x.t.Helper()
	pid := x.pid(rank)
	x.enter(fmt.Sprintf(`if symm.Rank() == %d { fmt.Println("stuck", "here"); select {} }`, rank))
	x.expect(fmt.Sprintf("[%d] stuck here\n", rank))
	if err := syscall.Kill(pid, sig); err != nil {
		x.t.Fatal(err)
	}
}

// word reads what follows what was expected last, up to a space.
func (x *terminal) word() string {
	x.t.Helper()
	x.expect(" ")
	x.mu.Lock()
	defer x.mu.Unlock()
	before := strings.Fields(x.shown.String()[:x.seen])
	return before[len(before)-1]
}

// number reads the number that follows what was expected last.
func (x *terminal) number() int {
	x.t.Helper()
	n, err := strconv.Atoi(x.word())
	if err != nil {
		x.t.Fatal(err)
	}
	return n
}

// refuse fails if text was shown anywhere so far.
func (x *terminal) refuse(text string) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if strings.Contains(x.shown.String(), text) {
		x.t.Errorf("%q was shown", text)
	}
}

// enter waits for the prompt and types a line. The expectations that follow are of what comes after its echo.
func (x *terminal) enter(line string) {
	x.t.Helper()
	x.expect("symm> ")
	x.send(line + "\r")
	x.expect(line + "\n")
}

// signals reports whether the terminal turns Ctrl-C into a signal now.
func (x *terminal) signals() bool {
	x.t.Helper()
	state, err := unix.IoctlGetTermios(x.fd, unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return state.Lflag&unix.ISIG != 0
}

// exit waits for the program to end with a status. Unless it was killed, the terminal must be as it was
// before.
func (x *terminal) exit(want int) {
	x.t.Helper()
	done := make(chan struct{})
	go func() { x.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		x.t.Fatal("the program did not end")
	}
	if got := x.cmd.ProcessState.ExitCode(); got != want {
		x.t.Errorf("exit status %d (%v), want %d", got, x.cmd.ProcessState, want)
	}
	if want >= 0 && !x.signals() {
		x.t.Error("the terminal is left in raw mode")
	}
}

// Escapes in what the session cites do not reach the terminal: of panics, of errors, of values that make their own text.
func TestEscapesInWhatIsCited(t *testing.T) {
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter(`panic("p\x1b]0;owned\a")`)
	x.expect(`\x1b]0;owned`)
	x.enter(`type owner struct{}; func (owner) String() string { return "v\x1b]0;owned\a\x1b[2J" }`)
	x.enter(`owner{}`)
	x.expect(`v\x1b]0;owned\x07\x1b[2J`)
	x.enter(`panic(owner{})`)
	x.expect(`v\x1b]0;owned`)
	x.enter(`import "errors"; panic(errors.New("e\x1b]0;owned\a"))`)
	x.expect(`e\x1b]0;owned`)
	x.expect("symm> ")
	x.mu.Lock()
	raw := x.raw.String()
	x.mu.Unlock()
	if strings.Contains(raw, "\x1b]0;owned") {
		t.Errorf("the title was set: %q", raw)
	}
}

func TestQuestionAtPrompt(t *testing.T) {
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter("strings.ToUpper?")
	x.expect("func ToUpper(s string) string")
	x.enter("?:on")
	x.expect("choose the ranks that cells run on")
	x.enter("nosuchname?")
	x.expect("nothing is known of nosuchname\n")
	x.enter("40 + 2")
	x.expect("42\n")
}

// Lessons are broken between words where the screen ends.
func TestLessonsFitTheScreen(t *testing.T) {
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.expect("symm> ")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 40, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	x.send(":tutorial 01\r")
	x.expect("A program for four GPUs\nusually has four processes")
	x.expect("    rank 0 runs it   rank 1 runs it   rank 2 runs it")
}

// Errors, remarks and help are broken between words where the screen ends.
func TestRemarksFitTheScreen(t *testing.T) {
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.expect("symm> ")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 40, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	x.send("symm.Explain(42)\r")
	x.expect("[0,1] cell[1]:1:14: cannot use 42 (untyped int constant) as\n[0,1]   func() value in argument to symm.Explain\n[0,1]     symm.Explain(42)\n")
	x.enter(":restart 1")
	x.expect("[1] rank 1 was restarted: a fresh worker took over,\n[1]   variables are lost there (`:restart replay` runs the\n[1]   cells again)\n")
	x.enter(":help save")
	x.expect("\"symmrepl run FILE\" and \":load FILE\" run them again. The\nfile is Go:")
	x.enter(":help")
	x.expect("  :edit [N|new]                     edit a cell in your\n                                    editor, and run it as a\n                                    new cell\n")
	x.enter(":tutorial")
	x.expect("02-symmetric-memory           0 of 1  Symmetric memory and\n                                      handles: ")
}

// Types are called what cells call them, and what is said about a name is all there is, without references that lead nowhere.
func TestNamesAtPrompt(t *testing.T) {
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter("t := symm.Empty(symm.F32, 4); h := symm.Rendezvous(t)")
	x.enter(":type t")
	x.expect("*symm.Tensor\n")
	x.enter(":vars")
	x.expect("*symm.Tensor ")
	x.enter("[]*symm.Tensor{t}")
	x.expect("[]*symm.Tensor{f32[4] on ")
	x.enter("t?")
	x.expect("var t *symm.Tensor\n")
	x.enter(":doc symm.Tensor")
	x.expect("func (t *Tensor) Fill(x any) *Tensor\n")
	x.enter("symm.AllReduce?")
	x.expect("Shapes: t was rendezvoused")
	x.enter(`symm.Explain(func() { symm.AllReduce(t, "sum"); symm.AllReduce(t, "max") })`)
	x.expect("\n")
	x.expect("symm> ")
	x.refuse(`\n`)
	x.refuse("[Runtime.")
	x.refuse("symmem.Tensor")
	x.send(`fmt.Printf("%T\n", t)` + "\r")
	x.expect("*symmem.Tensor\n") // as in the program that :export writes
}

// A name that was lost with its rank is said to have been, and by which cell.
func TestNamesLostAtPrompt(t *testing.T) {
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter("kept := 40")
	x.enter(`import "os"; if symm.Rank() == 1 { os.Exit(3) }`)
	x.expect("rank 1 exited with status 3")
	x.enter("kept + 2")
	x.expect("[0] 42\n")
	x.expect("undefined: kept")
	x.expect("rank 1 was replaced in cell 2, which lost kept there: `:restart replay`")
	x.enter(":restart replay")
	x.enter("kept + 2")
	x.expect("[0,1] 42\n")
	x.enter("unknown")
	x.expect("undefined: unknown\n")
}

// What ranks print of values is laid out for the terminal as wide as it is when the cell is entered.
func TestValuesFitTheScreen(t *testing.T) {
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter("xs := make([]int, 45); strs := []string{strings.Repeat(\"a\", 50), strings.Repeat(\"b\", 50)}")
	x.enter("xs")
	x.expect("[0,1] []int{" + strings.Repeat("0, ", 44) + "0}\n") // 200 columns
	x.expect("symm> ")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 40, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	x.send("xs\r")
	x.expect("[0,1] []int{\n[0,1] \t0, 0,")
	x.enter(":doc strings.Cut")
	x.expect("[0,1] Cut slices s around the first instance of sep")
	x.enter("symm.AllReduce?")
	x.expect("AllReduce combines")
	x.enter(":vars")
	x.expect("symm> ")
	for line := range strings.Lines(shown(x)[strings.LastIndex(shown(x), ":doc strings.Cut"):]) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 && !strings.Contains(line, "func ") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}
