package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"golang.org/x/sys/unix"
)

// terminal is a program at a pseudo-terminal, and the user in front of it.
type terminal struct {
	t   *testing.T
	pty *os.File
	fd  int // of pty
	cmd *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer // everything, without escape sequences
	seen  int          // how far expect has read shown
	raw   bytes.Buffer
	lines [2]int // where the last line begins in raw and in shown
}

// Keys.
const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
	tab   = "\t"
)

var (
	escapes = regexp.MustCompile(`\x1b\[[?0-9;]*[a-zA-Z]|[\r\a]| \x08`) // and the editor's blank and backspace at a line's end
	redrawn = regexp.MustCompile(`[^\n]*\x1b\[1G\x1b\[J`)               // what the editor clears to draw its line again
	over    = regexp.MustCompile(`((?:\x1b\[A)+)\r\x1b\[J`)             // where the editor moves up to draw several lines again
)

// compiling matches the note that a kernel has been compiled for more than 5 s, which a slow machine takes.
var compiling = regexp.MustCompile(`(?m)^.*\bcell \d+ has run for [^a-z]* s \(Ctrl-C interrupts it\):\n(.* rank [\d,-]+ +(compiles a kernel|failed:) .*\n)+`)

// terminal starts the program at a new terminal.
func (h home) terminal(args ...string) *terminal {
	h.t.Helper()
	return h.terminalOf(h.command(args...))
}

// terminalOf starts a command at a new terminal.
func (h home) terminalOf(cmd *exec.Cmd) *terminal {
	h.t.Helper()
	return h.terminalWide(cmd, 200)
}

// terminalWide starts a command at a new terminal of some columns.
func (h home) terminalWide(cmd *exec.Cmd, columns uint16) *terminal {
	h.t.Helper()
	x := &terminal{t: h.t, cmd: cmd}
	var err error
	x.pty, err = pty.StartWithSize(x.cmd, &pty.Winsize{Rows: 40, Cols: columns})
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
		x.strip()
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// strip adds what is new in raw to shown. No escape sequence spans lines, so only the last line that
// was stripped before, which may end within one, is stripped again.
func (x *terminal) strip() {
	fresh := x.raw.Bytes()[x.lines[0]:]
	whole := bytes.LastIndexByte(fresh, '\n') + 1
	x.shown.Truncate(x.lines[1])
	x.shown.Write(escapes.ReplaceAll(fresh[:whole], nil))
	x.lines = [2]int{x.lines[0] + whole, x.shown.Len()}
	x.shown.Write(escapes.ReplaceAll(fresh[whole:], nil))
}

// send types keys.
func (x *terminal) send(keys string) {
	x.t.Helper()
	if _, err := x.pty.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// expect waits until the terminal shows text after the text that was expected last.
func (x *terminal) expect(text string) {
	x.t.Helper()
	x.expectAny(text)
}

// expectAny waits for one of the texts and continues after the one that ends first.
func (x *terminal) expectAny(texts ...string) {
	x.t.Helper()
	deadline := time.Now().Add(patience())
	for {
		x.mu.Lock()
		end := -1
		for _, text := range texts {
			if i := bytes.Index(x.shown.Bytes()[x.seen:], []byte(text)); i >= 0 && (end < 0 || i+len(text) < end) {
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

// pid returns the process ID of a rank.
func (x *terminal) pid(rank int) int {
	x.t.Helper()
	x.enter(fmt.Sprintf(`import "os"; if symm.Rank() == %d { fmt.Println("pid", os.Getpid(), "end") }`, rank))
	x.expect(fmt.Sprintf("[%d] pid ", rank))
	return x.number()
}

// stuck runs a cell that hangs on one rank, and sends a signal to that rank's process.
func (x *terminal) stuck(rank int, sig syscall.Signal) {
	x.t.Helper()
	pid := x.pid(rank)
	x.enter(fmt.Sprintf(`if symm.Rank() == %d { fmt.Println("stuck", "here"); select {} }`, rank))
	x.expect(fmt.Sprintf("[%d] stuck here\n", rank))
	signalTo(x.t, pid, sig)
}

// signalTo sends a signal. After a SIGSTOP it waits until the process is stopped: on a busy machine its
// threads go on for a while.
func signalTo(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience()); sig == syscall.SIGSTOP; time.Sleep(time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(threads) == 0 {
			t.Fatal(pid, err)
		}
		if !slices.ContainsFunc(threads, func(name string) bool {
			thread, err := procfs.Read(name)
			return err != nil || thread.State != "T"
		}) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d does not stop", pid)
		}
	}
}

// word returns the word after the text that was expected last.
func (x *terminal) word() string {
	x.t.Helper()
	x.expect(" ")
	x.mu.Lock()
	defer x.mu.Unlock()
	before := strings.Fields(x.shown.String()[:x.seen])
	return before[len(before)-1]
}

// number returns the number after the text that was expected last.
func (x *terminal) number() int {
	x.t.Helper()
	n, err := strconv.Atoi(x.word())
	if err != nil {
		x.t.Fatal(err)
	}
	return n
}

// refuse fails if the terminal has shown text at any time.
func (x *terminal) refuse(text string) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if strings.Contains(x.shown.String(), text) {
		x.t.Errorf("%q was shown", text)
	}
}

// enter waits for the prompt and types a line. Later expectations begin after the echo of the line.
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

// exit waits until the program ends with this status. Unless the program was killed, the terminal
// must have its original settings again.
func (x *terminal) exit(want int) {
	x.t.Helper()
	done := make(chan struct{})
	go func() { x.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience()):
		x.t.Fatal("the program did not end")
	}
	if got := x.cmd.ProcessState.ExitCode(); got != want {
		x.t.Errorf("exit status %d (%v), want %d", got, x.cmd.ProcessState, want)
	}
	if want >= 0 && !x.signals() {
		x.t.Error("the terminal is left in raw mode")
	}
}

// shown returns the whole output of the terminal as a user reads it at the end.
func shown(x *terminal) string {
	x.mu.Lock()
	raw := overwritten(x.raw.Bytes())
	x.mu.Unlock()
	var lines []string
	for line := range strings.Lines(string(escapes.ReplaceAll(redrawn.ReplaceAll(raw, nil), nil))) {
		lines = append(lines, strings.TrimRight(line, " \r\n"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

// overwritten removes lines that later lines have overwritten.
func overwritten(raw []byte) []byte {
	for {
		at := over.FindSubmatchIndex(raw)
		if at == nil {
			return raw
		}
		begin := at[0]
		for range (at[3] - at[2]) / len("\x1b[A") {
			begin = bytes.LastIndexByte(raw[:max(0, begin-1)], '\n') + 1
		}
		raw = append(slices.Clone(raw[:begin]), raw[at[1]:]...)
	}
}

// editor writes a shell script to a file and returns the quoted name. The script's argument is the
// file to edit.
func editor(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "an editor")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return "'" + name + "'"
}
