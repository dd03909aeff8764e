package supervisor

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session/inherit"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Spawner starts processes from one thread that lives as long as the Spawner: the kernel signals a
// child when the thread that forked it ends, not when the process ends.
type Spawner struct {
	alone  sync.Mutex // held while a worker is started, which needs further descriptors for a moment
	work   chan func()
	reader reader // of the answers of the processes that are workers
}

// NewSpawner returns a Spawner without processes.
func NewSpawner() *Spawner {
	s := &Spawner{work: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		for f := range s.work {
			f()
		}
	}()
	return s
}

func (s *Spawner) start(name string, argv []string, attr *os.ProcAttr) (p *os.Process, err error) {
	done := make(chan struct{})
	s.work <- func() {
		p, err = os.StartProcess(name, argv, attr)
		close(done)
	}
	<-done
	return p, err
}

// Close ends the thread. No more processes are started.
func (s *Spawner) Close() {
	close(s.work)
	s.reader.close()
}

// Woken notes that an answer has woken a goroutine, which waits for a processor.
func (s *Spawner) Woken() { s.reader.woken.Store(true) }

// process is the supervisor's side of one worker process.
type process struct {
	incarnation int
	spec        inherit.Spec
	os          *os.Process
	stat        procfs.Process // of os; the zero Process before it starts
	control     *net.UnixConn
	hearing     *hearing      // of control
	out         *frame.Writer // commands but jobs, on control
	jobs        *jobPipes
	printed     *printed        // standard output and error
	begins      [2]beginFinder  // in the printed bytes; the lock of printed guards all but the expected run
	tail        *tail           // the last bytes of standard error
	shared      *inherit.Memory // with the worker
	crash       *crashReport
	wasKilled   atomic.Bool   // set by kill
	oomKills    atomic.Uint64 // a recent count while the worker lived: see countOOMKills
	rss         atomic.Int64  // bytes resident while it ran

	passing     sync.WaitGroup // answers that are passed on after output
	deathReport sync.Once
	clearing    sync.Once
	relayed     chan struct{} // closed when all its events have been passed on
	ended       chan struct{} // closed when all of the worker but its process ID is gone
	reaped      chan struct{} // closed when the process ID is free too
}

// controlTimeout is the time that a worker may leave a command unread before it is killed. The
// socket holds many commands, so only a stopped process with a very large cell comes near.
const controlTimeout = 3 * time.Second

// startProcess starts a worker with a standard input (nil means empty) and with bootstrap as its
// connection to the hub, and closes bootstrap. The caller reads the pipes.
func startProcess(sp *Spawner, spec inherit.Spec, stdin, bootstrap *os.File) (*process, error) {
	defer bootstrap.Close()
	sp.alone.Lock()
	defer sp.alone.Unlock()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	mine, theirs, err := inherit.Pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	group := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGHUP}
	if stdin == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			mine.Close()
			return nil, err
		}
		defer null.Close()
		stdin = null
	} else {
		// A terminal stops processes that read it outside of its foreground group, but not
		// processes of another session.
		group.Setpgid, group.Setsid = false, true
	}
	jobs, jobsEnd, answersEnd, err := newJobPipes()
	if err != nil {
		mine.Close()
		return nil, err
	}
	defer jobsEnd.Close()
	defer answersEnd.Close()
	p := &process{incarnation: spec.Incarnation, spec: spec, tail: &tail{},
		control: mine, out: frame.NewWriter(promptWriter{mine}), jobs: jobs,
		relayed: make(chan struct{}), ended: make(chan struct{}), reaped: make(chan struct{})}
	if p.hearing, err = newHearing(mine, p.relayed); err != nil {
		p.closeFiles()
		return nil, err
	}
	var memory *os.File
	if p.shared, memory, err = inherit.NewMemory(); err != nil {
		p.closeFiles()
		return nil, err
	}
	defer memory.Close()
	var ends [2]*os.File
	if p.printed, ends, err = newPrinted(p.shared); err != nil {
		p.closeFiles()
		return nil, err
	}
	defer ends[0].Close()
	defer ends[1].Close()
	p.os, err = sp.start(program, []string{"symmrepl-worker", fmt.Sprint("rank=", spec.Rank)}, &os.ProcAttr{
		Env:   append(workerEnvironment(), inherit.Variable+"="+string(encoded), inherit.MarkVariable+"="+spec.Mark()),
		Files: []*os.File{stdin, ends[0], ends[1], theirs, bootstrap, memory, jobsEnd, answersEnd},
		Sys:   group,
	})
	if err != nil {
		p.closeFiles()
		return nil, err
	}
	p.stat, _ = procfs.Open(p.os.Pid) // without /proc its Stat fails, and nothing is known of the worker
	return p, nil
}

// workerEnvironment returns the environment of workers: this process's environment without
// variables that user code must not see, and with a bound on threads.
func workerEnvironment() []string {
	var env []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != rendezvous.TokenVariable && name != inherit.Variable && name != inherit.MarkVariable {
			env = append(env, v)
		}
	}
	if os.Getenv("GOMAXPROCS") == "" {
		env = append(env, "GOMAXPROCS=2")
	}
	return env
}

// send sends a command to the worker. If the worker does not read it, send kills the worker.
func (p *process) send(c wire.Command, payload []byte) {
	out := p.out
	if c.IsJob() {
		out = p.jobs.out
	}
	if err := out.Write(c, payload); err != nil {
		p.kill()
	}
}

// promptWriter writes to a worker within controlTimeout. It sets a timer only if the socket is full:
// setting one wakes a thread.
type promptWriter struct{ *net.UnixConn }

func (w promptWriter) Write(b []byte) (n int, err error) {
	raw, err := w.SyscallConn()
	if err != nil {
		return 0, err
	}
	raw.Control(func(fd uintptr) { n, err = unix.Write(int(fd), b) })
	if err == nil && n == len(b) {
		return n, nil
	}
	n = max(n, 0)
	w.SetWriteDeadline(time.Now().Add(controlTimeout))
	more, err := w.UnixConn.Write(b[n:])
	return n + more, err
}

// kill ends the worker and all processes that it started.
func (p *process) kill() {
	select {
	case <-p.reaped:
	default:
		p.wasKilled.Store(true)
		syscall.Kill(-p.os.Pid, syscall.SIGKILL)
	}
}

// resume lets the worker and its processes go on if a signal such as SIGSTOP has stopped them: a
// stopped worker cannot be interrupted.
func (p *process) resume() {
	select {
	case <-p.reaped:
	default:
		syscall.Kill(-p.os.Pid, syscall.SIGCONT)
	}
}

func (p *process) closeFiles() {
	p.control.Close()
	p.jobs.close()
	p.stat.Close()
	if p.printed != nil {
		p.printed.close() // returns when nobody reads any more
	}
	if p.shared != nil {
		p.shared.Unmap()
	}
}

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 64 << 10

func (t *tail) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*tailSize {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailSize:]...)
	}
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = t.buf[:0]
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf[max(0, len(t.buf)-tailSize):])
}
