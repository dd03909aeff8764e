package executions

import (
	"os/exec"
	"sync"
	"time"
)

// Waits in compiled code do not end when interpreted code is stopped. The functions below wait like
// those of the standard library, but end when the cell is stopped.

// Sleep is time.Sleep, but ends early when the cell is stopped.
func (es *Executions) Sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-es.context().Done():
	}
}

// await makes a call that may block for ever. It returns early when the cell is stopped. If the
// call returns later, await calls cancelled.
func (es *Executions) await(call, cancelled func()) {
	done := make(chan bool)
	stopped := es.context().Done()
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

// Lock is the method Lock of a mutex.
func (es *Executions) Lock(m sync.Locker) {
	if t, ok := m.(interface{ TryLock() bool }); ok && t.TryLock() {
		return
	}
	es.await(m.Lock, m.Unlock)
}

// RLock is the method RLock of a mutex.
func (es *Executions) RLock(m *sync.RWMutex) {
	if !m.TryRLock() {
		es.await(m.RLock, m.RUnlock)
	}
}

// WaitGo is the method Go of a wait group.
func (es *Executions) WaitGo(g *sync.WaitGroup, f func()) {
	g.Add(1)
	es.Go(func() {
		defer g.Done()
		f()
	})
}

// Wait is the method Wait of a wait group.
func (es *Executions) Wait(g *sync.WaitGroup) { es.await(g.Wait, func() {}) }

// CondWait is the method Wait of a condition. If it is woken after the cell was stopped, it passes
// the signal on.
func (es *Executions) CondWait(c *sync.Cond) {
	es.await(c.Wait, func() {
		c.Signal()
		c.L.Unlock()
	})
}

// Command is exec.Command. The process is killed when the cell is stopped.
func (es *Executions) Command(name string, arg ...string) *exec.Cmd {
	c := exec.CommandContext(es.context(), name, arg...)
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
func (es *Executions) awaitCmd(call func() ([]byte, error)) ([]byte, error) {
	end := make(chan cmdEnd, 1)
	es.await(func() {
		output, err := call()
		end <- cmdEnd{output, err}
	}, func() {})
	select {
	case e := <-end:
		return e.output, e.err
	default:
		return nil, es.context().Err()
	}
}

func (es *Executions) CmdRun(c *exec.Cmd) error {
	_, err := es.awaitCmd(func() ([]byte, error) { return nil, c.Run() })
	return err
}

func (es *Executions) CmdWait(c *exec.Cmd) error {
	_, err := es.awaitCmd(func() ([]byte, error) { return nil, c.Wait() })
	return err
}

func (es *Executions) CmdOutput(c *exec.Cmd) ([]byte, error)   { return es.awaitCmd(c.Output) }
func (es *Executions) CmdCombined(c *exec.Cmd) ([]byte, error) { return es.awaitCmd(c.CombinedOutput) }
