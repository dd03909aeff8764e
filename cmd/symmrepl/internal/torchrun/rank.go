package torchrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jsonlines"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/fold"
)

const (
	variable = "SYMMREPL_WATCH" // the descriptor of a rank's socket, and the version of this program
	fd       = 3
	maxLine  = 16 << 20 // of a message, in bytes

	// output that comes after the end of a rank, from processes that it has left, is waited for so long
	lastWords = time.Second
)

// manner is the way in which a rank answers, or why it does not.
type manner string

const (
	importing manner = "has not imported symmrepl.torch" // also at the start
	answering manner = "answers"
	ending    manner = "is ending" // it has closed the socket
)

// rank is a process. Its fields belong to the goroutine of Program.Run.
type rank struct {
	number  int
	pid     int
	target  int // of signals: the process, or below 0 its group
	watched *net.UnixConn
	manner  manner
	thread  thread
	stop    *breakpoint // at which it stands, or nil
	puts    []put       // of its last answer

	ended   time.Time // zero while it runs
	failure string    // how it has failed: "exited with status 3", "was killed (SIGKILL)"; "" if it has not
}

// start starts a rank. It calls from other goroutines: printed with all that the process prints, heard with
// its messages and nil at their end, and ended once, when it has ended and nothing is left of it.
func start(number int, command, environment []string, printed func(session.Stream, []byte), heard func(*message), ended func(failure string)) (*rank, error) {
	mine, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	c := exec.Command(command[0], command[1:]...)
	c.Env = environment
	c.ExtraFiles = []*os.File{theirs}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var streams [2]io.ReadCloser
	for i, pipe := range []func() (io.ReadCloser, error){c.StdoutPipe, c.StderrPipe} {
		if streams[i], err = pipe(); err != nil {
			mine.Close()
			return nil, err
		}
	}
	kills := procfs.OOMKills()
	if err := c.Start(); err != nil {
		mine.Close()
		return nil, err
	}
	r := &rank{number: number, pid: c.Process.Pid, target: -c.Process.Pid, watched: mine, manner: importing}
	var reading sync.WaitGroup
	for i, stream := range []session.Stream{session.Stdout, session.Stderr} {
		reading.Go(func() {
			b, u := make([]byte, 32<<10), newUnlabelled(number)
			for {
				n, err := streams[i].Read(b)
				if text := u.cut(b[:n]); len(text) > 0 {
					printed(stream, text)
				}
				if err != nil {
					return
				}
			}
		})
	}
	go listen(jsonlines.NewReader(mine, maxLine), heard, func() {})
	go func() {
		var info unix.Siginfo
		for errors.Is(unix.Waitid(unix.P_PID, c.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		}
		r.kill(syscall.SIGKILL) // what it has started; its number is taken until it is reaped
		read := make(chan struct{})
		go func() { reading.Wait(); close(read) }()
		select {
		case <-read:
		case <-time.After(lastWords):
		}
		c.Wait()
		mine.Close()
		ended(failureOf(c.ProcessState, procfs.OOMKills() > kills))
	}()
	return r, nil
}

// pair returns the two ends of a socket.
func pair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("a socket to a rank: %w", err)
	}
	mine, theirs := os.NewFile(uintptr(fds[0]), ""), os.NewFile(uintptr(fds[1]), "")
	defer mine.Close()
	conn, err := net.FileConn(mine)
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("a socket to a rank: %w", err)
	}
	return conn.(*net.UnixConn), theirs, nil
}

// listen passes the messages of a rank on, and nil at their end, and then calls over. What is no message is
// left out: a program may write anything.
func listen(lines *jsonlines.Reader, heard func(*message), over func()) {
	defer over()
	for {
		line, err := lines.Next()
		if errors.Is(err, jsonlines.ErrTooLong) {
			continue
		}
		if err != nil {
			heard(nil)
			return
		}
		m := &message{}
		if json.Unmarshal(line, m) == nil {
			heard(m)
		}
	}
}

// kill sends a signal to the rank, and to what it has started if the rank was started here.
func (r *rank) kill(signal syscall.Signal) { syscall.Kill(r.target, signal) }

// question is a line to a rank: what do you do?
type question struct {
	ID uint64 `json:"id"`
}

// tell sends a line to the rank. One that does not read any more is not waited for.
func (r *rank) tell(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		return
	}
	r.watched.SetWriteDeadline(time.Now().Add(fold.Tick))
	r.watched.Write(append(text, '\n'))
}

// failureOf describes the end of a process that has failed, "" of another one.
func failureOf(state *os.ProcessState, withoutMemory bool) string {
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL && withoutMemory:
		return "was killed (SIGKILL) by the kernel, which had no memory left"
	case status.Signaled():
		return fmt.Sprintf("was killed (%s)", unix.SignalName(status.Signal()))
	case status.ExitStatus() != 0:
		return fmt.Sprintf("exited with status %d", status.ExitStatus())
	}
	return ""
}
