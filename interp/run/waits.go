package run

import (
	"os/exec"
	"sync"
	"time"
)

// Waits in compiled code do not end when interpreted code is stopped. The functions below wait like
// those of the standard library, but end when the cell is stopped.

// sleep is time.Sleep, but ends early when the cell is stopped.
func (rt *Runtime) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-rt.context().Done():
	}
}

// await makes a call that may block for ever. It returns early when the cell is stopped. If the
// call returns later, await calls cancelled.
func (rt *Runtime) await(call, cancelled func()) {
	done := make(chan bool)
	stopped := rt.context().Done()
	go func() {
		call()
		select {
		case done <- true:
		case <-stopped:
			cancelled()
		}
	}()
	select {
	case <-done:
	case <-stopped:
	}
}

// lock is the method Lock of a mutex.
func (rt *Runtime) lock(m sync.Locker) {
	if t, ok := m.(interface{ TryLock() bool }); ok && t.TryLock() {
		return
	}
	rt.await(m.Lock, m.Unlock)
}

// rlock is the method RLock of a mutex.
func (rt *Runtime) rlock(m *sync.RWMutex) {
	if !m.TryRLock() {
		rt.await(m.RLock, m.RUnlock)
	}
}

// waitGo is the method Go of a wait group.
func (rt *Runtime) waitGo(g *sync.WaitGroup, f func()) {
	g.Add(1)
	rt.goRun(func() {
		defer g.Done()
		f()
	})
}

// wait is the method Wait of a wait group.
func (rt *Runtime) wait(g *sync.WaitGroup) { rt.await(g.Wait, func() {}) }

// condWait is the method Wait of a condition. If it is woken after the cell was stopped, it passes
// the signal on.
func (rt *Runtime) condWait(c *sync.Cond) {
	rt.await(c.Wait, func() {
		c.Signal()
		c.L.Unlock()
	})
}

// command is exec.Command. The process is killed when the cell is stopped.
func (rt *Runtime) command(name string, arg ...string) *exec.Cmd {
	c := exec.CommandContext(rt.context(), name, arg...)
	kill := c.Cancel
	c.Cancel = func() error {
		c.WaitDelay = SelfEnd // the process's children may keep its output open
		return kill()
	}
	return c
}

// cmdEnd is the result of waiting for a command.
type cmdEnd struct {
	output []byte
	err    error
}

// awaitCmd makes a call that waits for a command.
func (rt *Runtime) awaitCmd(call func() ([]byte, error)) ([]byte, error) {
	end := make(chan cmdEnd, 1)
	rt.await(func() {
		output, err := call()
		end <- cmdEnd{output, err}
	}, func() {})
	select {
	case e := <-end:
		return e.output, e.err
	default:
		return nil, rt.context().Err()
	}
}

func (rt *Runtime) cmdRun(c *exec.Cmd) error {
	_, err := rt.awaitCmd(func() ([]byte, error) { return nil, c.Run() })
	return err
}

func (rt *Runtime) cmdWait(c *exec.Cmd) error {
	_, err := rt.awaitCmd(func() ([]byte, error) { return nil, c.Wait() })
	return err
}

func (rt *Runtime) cmdOutput(c *exec.Cmd) ([]byte, error)   { return rt.awaitCmd(c.Output) }
func (rt *Runtime) cmdCombined(c *exec.Cmd) ([]byte, error) { return rt.awaitCmd(c.CombinedOutput) }
