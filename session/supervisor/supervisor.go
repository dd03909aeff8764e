package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inherit"
	"github.com/symmrepl/symmrepl/session/wire"
)

const (
	exitPoll   = 20 * time.Millisecond // between two checks of a busy worker; the kernel takes long to end a large process
	oomEvery   = 50                    // number of checks between two reads of the kernel's count of out-of-memory kills
	lastWrites = 25                    // number of checks for which a worker that is exiting may complete its writes
)

// QuitGrace is the time for a worker to exit after a Quit.
const QuitGrace = inherit.CloseGrace + time.Second

// Keeper is a rank's supervisor: a Supervisor in this process, or the end of a link to its process.
type Keeper interface {
	Do(wire.Command, []byte) // failures are reported as events
	Close()                  // ends the worker and returns when all its processes and files are gone
}

// Supervisor keeps one rank's worker: it starts it, passes commands and output, and reports its
// end. It runs no user code.
type Supervisor struct {
	ConnectHub func(incarnation int) (*os.File, error)     // a new connection to the hub, for a worker to inherit
	Emit       func(wire.Event, []byte)                    // reports to the controller; called from several goroutines; must not keep the bytes
	OOMKills   func() uint64                               // procfs.OOMKills, or a test's
	Reap       func(*os.Process) (*os.ProcessState, error) // (*os.Process).Wait, or a test's

	spec    inherit.Spec
	stdin   *os.File // the worker's standard input; nil means empty
	spawner *Spawner
	reports string // the folder for reports of crashes, "" if there is none

	starting sync.WaitGroup // start, while it runs

	mu      sync.Mutex
	process *process // the newest worker
	busy    bool     // a cell runs
	polling bool     // whether poll runs
	closed  bool
}

// New returns the supervisor of the rank at a place. dir is the session's folder on this host. The caller
// sets ConnectHub and Emit.
func New(sp *Spawner, c session.Config, at launcher.Launcher, dir string) *Supervisor {
	s := &Supervisor{
		OOMKills: procfs.OOMKills, Reap: (*os.Process).Wait,
		spec: inherit.Spec{Rank: at.Rank, Size: at.Size, LocalRank: at.LocalRank, LocalSize: at.LocalSize, Dir: dir, Device: c.Device,
			Backend: c.Backend, Hosts: c.Hosts.String(), Network: c.Network, Lender: c.Lender, Args: c.Args, Program: c.Program != nil},
		spawner: sp, reports: c.Reports,
	}
	if at.Rank == 0 && c.Program != nil {
		s.stdin = c.Program.Stdin
	}
	return s
}

// Do carries out a command or passes it to the worker. A command for a dead worker is dropped: its
// death has been or will be reported.
func (s *Supervisor) Do(c wire.Command, payload []byte) {
	s.mu.Lock()
	p := s.process
	if c.Start != nil {
		if !s.closed {
			s.starting.Go(func() { s.start(c.Start.Incarnation) })
		}
		s.mu.Unlock()
		return
	}
	if p == nil || (c.Eval != nil && c.Eval.Incarnation != p.incarnation) {
		s.mu.Unlock()
		return
	}
	if c.Eval != nil {
		s.busy = true
		if !s.polling {
			s.polling = true
			go s.poll()
		}
	}
	s.mu.Unlock()
	switch {
	case c.Kill != 0:
		if c.Kill == p.incarnation { // the worker that the command is for may have died and been replaced
			p.kill()
		}
		return
	case c.Cancel != 0:
		p.resume()
	case c.Eval != nil:
		p.tail.reset()
		for i := range p.begins {
			p.begins[i].expected.Store(c.Eval.Run)
		}
	case c.Status != 0:
		go s.observe(p) // the goroutine that calls Do may be the one that receives events
	}
	p.send(c, payload)
}

// observe reports the kernel's information about the worker.
func (s *Supervisor) observe(p *process) {
	if info, err := p.stat.Stat(); err == nil {
		s.Emit(wire.Event{Incarnation: p.incarnation, Process: &wire.Process{State: info.State, RSS: info.RSS}}, nil)
	}
}

// start starts an incarnation once all of the previous one is gone. Calls do not overlap.
func (s *Supervisor) start(incarnation int) {
	s.mu.Lock()
	previous := s.process
	s.mu.Unlock()
	if previous != nil {
		previous.kill()
		<-previous.ended
	}
	spec := s.spec
	spec.Incarnation = incarnation
	boot, err := s.ConnectHub(incarnation)
	var p *process
	if err == nil {
		p, err = startProcess(s.spawner, spec, s.stdin, boot)
	}
	if err != nil {
		s.Emit(wire.Event{Incarnation: incarnation, Died: &wire.Death{Cause: "could not be started: " + raiseFiles(err).Error()}}, nil)
		return
	}
	s.mu.Lock()
	s.process, s.busy = p, false
	s.mu.Unlock()
	p.oomKills.Store(s.OOMKills())
	p.crash = &crashReport{
		show: func(b []byte) { s.Emit(wire.Event{Incarnation: p.incarnation, Output: session.Stderr}, b) },
		ended: func() bool {
			info, err := p.stat.Stat()
			return err != nil || info.Exiting
		},
	}
	go p.printed.pump(s.sink(p))
	go s.listen(p)
	go s.wait(p)
	if err := s.spawner.reader.add(p.jobs, func() bool { return s.takeAnswers(p) }); err != nil {
		s.endFor(p, "cannot be heard: "+err.Error())
	}
}

// sink passes on output.
func (s *Supervisor) sink(p *process) func(session.Stream, []byte) {
	return func(stream session.Stream, b []byte) { s.pass(p, stream, b) }
}

// pass passes on output of one stream.
func (s *Supervisor) pass(p *process, stream session.Stream, b []byte) {
	pass := func(b []byte) {
		if stream == session.Stderr {
			p.tail.write(b)
			p.crash.write(b)
			return
		}
		s.Emit(wire.Event{Incarnation: p.incarnation, Output: stream}, b)
	}
	begin := func(run uint64) {
		if stream == session.Stderr {
			p.crash.release() // the worker goes on
		}
		s.Emit(wire.Event{Incarnation: p.incarnation, Output: stream, Begins: run}, nil)
	}
	p.begins[stream-1].split(b, &p.shared.Begins[stream-1], pass, begin)
}

// drain passes on the output that the worker has written so far.
func (s *Supervisor) drain(p *process) {
	p.printed.flush(s.sink(p))
}

// drainAlive is drain for a worker that has acted since it wrote the output: the output contains no
// report of a crash.
func (s *Supervisor) drainAlive(p *process) {
	s.drain(p)
	p.crash.release()
}

// takeAnswers passes on the worker's answers to jobs that have come, and reports whether there may be
// more.
func (s *Supervisor) takeAnswers(p *process) (more bool) {
	err := p.jobs.take(func(e wire.Event, payload []byte) { s.answered(p, e, payload) })
	if err != nil && err != io.EOF {
		s.severed(p, err)
	}
	return err == nil
}

// answered passes on an answer: after the output of the cell and all that the worker sent before if
// the cell is done. Its caller takes the answers of all workers and must not wait for the fold, which
// may hold output back.
func (s *Supervisor) answered(p *process, e wire.Event, payload []byte) {
	e.Incarnation = p.incarnation
	if e.Done == nil {
		s.Emit(e, payload)
		return
	}
	s.mu.Lock()
	s.busy = false
	s.mu.Unlock()
	if quiet, _ := p.hearing.quiet(); quiet && p.printed.isEmpty() && !p.crash.holds() {
		s.Emit(e, payload)
		return
	}
	p.passing.Go(func() {
		p.hearing.await()
		s.drainAlive(p)
		s.Emit(e, payload)
	})
}

// listen passes on the worker's events but its answers to jobs. It passes on earlier output before
// the answer to a probe, and before the report that code of the cell stands.
func (s *Supervisor) listen(p *process) {
	defer close(p.relayed)
	in := frame.NewReader(p.hearing, wire.MaxPayload)
	for {
		var e wire.Event
		payload, err := in.Read(&e)
		if err != nil {
			s.severed(p, err)
			return
		}
		e.Incarnation = p.incarnation
		if e.Died != nil { // the worker cannot go on, and knows why
			s.endFor(p, e.Died.Cause)
			continue
		}
		if e.Probe != 0 || e.Stopped != nil {
			go func() { // the fold may hold output back, and other events must not wait for it
				s.drainAlive(p)
				s.Emit(e, nil)
			}()
			continue
		}
		s.Emit(e, payload)
	}
}

// severed ends a worker that is alive but has lost its connection, so that its reports no longer
// arrive.
func (s *Supervisor) severed(p *process, err error) {
	if info, failed := p.stat.Stat(); failed != nil || info.Exiting {
		return // the connection ended with the worker
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		s.endFor(p, inherit.LostSession)
	} else {
		s.endFor(p, fmt.Sprintf("wrote invalid data to its connection with the session (%v): a cell wrote to a descriptor that is not its own", err))
	}
}

// endFor ends a worker and reports why, once.
func (s *Supervisor) endFor(p *process, cause string) {
	p.deathReport.Do(func() {
		s.drainAlive(p)
		s.Emit(wire.Event{Incarnation: p.incarnation, Died: &wire.Death{Cause: cause, Offset: p.shared.Offset() + 1}}, nil)
	})
	p.kill()
}

// wait reports the worker's end and cleans up, before it reaps the worker: on a busy machine that
// takes seconds.
func (s *Supervisor) wait(p *process) {
	for {
		err := unix.Waitid(unix.P_PID, p.os.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	// the processes that the worker started; the worker is not reaped yet, so its number is not
	// reused
	syscall.Kill(-p.os.Pid, syscall.SIGKILL)
	if info, err := p.stat.Stat(); err == nil && info.Known {
		s.ended(p, info.Status)
	}
	state, err := s.Reap(p.os)
	var status syscall.WaitStatus
	if err == nil {
		status = state.Sys().(syscall.WaitStatus)
	}
	s.ended(p, status)
	close(p.reaped)
}

// ended reports that a worker has ended, and cleans up, once.
func (s *Supervisor) ended(p *process, status syscall.WaitStatus) {
	p.clearing.Do(func() {
		s.mu.Lock()
		if s.process == p {
			s.busy = false
		}
		s.mu.Unlock()
		select {
		case <-p.relayed: // an event may give the reason
		case <-time.After(controlTimeout):
		}
		s.died(p, status)
		clearAfter(p.spec, p.os.Pid)
		p.closeFiles()
		close(p.ended)
	})
}

// poll checks a busy worker every exitPoll: /proc shows that the worker is exiting long before the
// kernel has released its memory. The first check also reads the count of out-of-memory kills: other
// processes may have been killed since it was last read. On a busy machine a thread of a killed worker may
// still be in a write; its death is reported after that, so that its text is shown with the cell's.
func (s *Supervisor) poll() {
	writing := 0 // checks at which a worker that is exiting could still write
	for looks := 0; ; looks++ {
		time.Sleep(exitPoll - time.Duration(time.Now().UnixNano())%exitPoll) // the supervisors of all ranks wake together
		s.mu.Lock()
		p := s.process
		if !s.busy || s.closed {
			s.polling = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		info, err := p.stat.Stat()
		if err == nil && !info.Exiting {
			p.rss.Store(info.RSS)
			if looks%oomEvery == 0 {
				p.oomKills.Store(s.OOMKills())
			}
		}
		if err != nil || !info.Known { // the status may become known some checks later than the exit
			writing = 0
			continue
		}
		if writing < lastWrites && procfs.Runs(p.os.Pid) {
			writing++
			continue
		}
		s.mu.Lock()
		s.busy = false
		s.mu.Unlock()
		s.died(p, info.Status)
	}
}

// died reports the end of a worker, once.
func (s *Supervisor) died(p *process, status syscall.WaitStatus) {
	p.deathReport.Do(func() {
		close(p.hearing.dying)
		p.jobs.take(func(e wire.Event, payload []byte) { s.answered(p, e, payload) }) // the end of the pipe is no news
		p.passing.Wait()
		s.drain(p)
		stderr, held := p.tail.String(), p.crash.take()
		if len(held) > 0 {
			stderr = string(held)
		}
		cause, report := causeOfDeath(status, stderr)
		byKernel := status.Signal() == syscall.SIGKILL && !p.wasKilled.Load() && s.OOMKills() > p.oomKills.Load()
		if byKernel {
			cause += fmt.Sprintf(" by the kernel, which had no memory left: it took %.1f GiB", float64(p.rss.Load())/(1<<30))
		}
		d := &wire.Death{Cause: cause, Stderr: report}
		if strings.HasPrefix(cause, crashed) || byKernel {
			d.Offset = p.shared.Offset() + 1
		}
		if strings.HasPrefix(cause, crashed) && (status.Exited() || len(held) > 0) {
			d.Advice = adviceFor(report)
			d.Report = keepReport(s.reports, p.spec.Rank, []byte(stderr))
		}
		if d.Report != "" {
			d.Stderr = ""
		} else if len(held) > 0 {
			p.crash.show(held)
		}
		if status.Exited() && !strings.HasPrefix(cause, crashed) {
			d.Exited, d.Status = true, status.ExitStatus()
		}
		s.Emit(wire.Event{Incarnation: p.incarnation, Died: d}, nil)
	})
}

// Close makes the worker exit, kills it if it does not, and returns when all its processes and
// files are gone.
func (s *Supervisor) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.starting.Wait()
	s.mu.Lock()
	p := s.process
	s.mu.Unlock()
	if p == nil {
		return
	}
	p.send(wire.Command{Quit: true}, nil)
	select {
	case <-p.reaped:
	case <-time.After(QuitGrace):
		p.kill()
		<-p.reaped
	}
}

// Reading returns the lock of those that read the newest worker's output: while a test holds it, the output
// stays unread.
func (s *Supervisor) Reading() sync.Locker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &s.process.printed.mu
}

// crashed begins the cause of a death that is a crash.
const crashed = "crashed"

// maxReport bounds the part of standard error that a death report quotes, in bytes.
const maxReport = 8 << 10

// causeOfDeath describes how a process ended, and returns its words about that on standard error:
// the report of Go's runtime, or else the last lines.
func causeOfDeath(status syscall.WaitStatus, stderr string) (cause, report string) {
	report = stderr[max(0, len(stderr)-maxReport):]
	crash := status.Signaled() && slices.Contains(crashSignals, status.Signal())
	dying := status.Signaled() && surelyReport([]byte(stderr)) // the process was killed before it had written the whole report
	if crash || dying || status.Exited() && status.ExitStatus() == runtimeExit {
		start := 0
		for line := range strings.Lines(stderr) {
			for _, prefix := range runtimeReports {
				if strings.HasPrefix(line, prefix) {
					return fmt.Sprintf("%s (%s)", crashed, strings.TrimSpace(line)), wire.Clip(stderr[start:], maxReport)
				}
			}
			start += len(line)
		}
	}
	switch {
	case crash:
		return fmt.Sprintf("%s (%s)", crashed, unix.SignalName(status.Signal())), report
	case status.Signaled():
		return fmt.Sprintf("was killed (%s)", unix.SignalName(status.Signal())), report
	}
	return fmt.Sprintf("exited with status %d", status.ExitStatus()), report
}

// runtimeExit is the status with which Go's runtime ends a program that panicked or crashed, if not
// by a signal, after a report that begins with one of runtimeReports.
const runtimeExit = 2

var (
	runtimeReports = []string{"panic: ", "fatal error: ", "runtime: ", "runtime/cgo: ", "SIGSEGV: ", "SIGBUS: ", "SIGABRT: ",
		"SIGFPE: ", "SIGILL: ", "SIGTRAP: "}
	crashSignals = []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP}
)
