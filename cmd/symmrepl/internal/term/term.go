package term

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/ergochat/readline"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Interactive reports whether this process can show a prompt: its standard input is a terminal, and
// its standard output or standard error is.
func Interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && screen() != nil
}

// screen returns the terminal that the prompt is written to, or nil.
func screen() *os.File {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if term.IsTerminal(int(f.Fd())) {
			return f
		}
	}
	return nil
}

// size returns the columns and rows of the terminal of the prompt, 80 and 24 where they are not known.
func size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(screen().Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	if err != nil || rows <= 0 {
		rows = 24
	}
	return columns, rows
}

// Columns returns the columns of the terminal of the prompt, 80 if they are not known.
func Columns() int {
	columns, _ := size()
	return columns
}

// ColumnsOf returns the columns of the terminal that f is, 80 if they are not known, and 0 if f is no
// terminal.
func ColumnsOf(f *os.File) int {
	columns, _, err := term.GetSize(int(f.Fd()))
	switch {
	case err != nil:
		return 0
	case columns <= 0:
		return 80
	}
	return columns
}

// makeRaw makes the terminal deliver each byte as it is typed, without echo and signals. It still
// processes output.
func makeRaw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}

// shown is the line editor of the prompt that the terminal shows, nil if it shows none.
var shown atomic.Pointer[readline.Instance]

// Notify writes a line to the standard error, above the prompt if the terminal shows one.
func Notify(line string) {
	var to io.Writer = os.Stderr
	if editor := shown.Load(); editor != nil {
		to = editor.Stderr()
	}
	fmt.Fprintln(to, line)
}
