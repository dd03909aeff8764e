package jupyter

import (
	"context"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// interrupt holds the functions that interrupt an entry the first and the second time.
type interrupt struct {
	cancel  context.CancelFunc
	replace func() // replaces the ranks that have not stopped
	again   console.Insistence
	at      time.Time
}

// interruptible makes Interrupt end the context that it returns, until ended is called. P shows which
// ranks a second interrupt replaces.
func (k *Kernel) interruptible(ctx context.Context, p console.Printer) (_ context.Context, ended func()) {
	ctx, cancel := context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	stop := &interrupt{cancel: cancel, replace: func() {
		if c, err := k.ready(); err == nil {
			c.ReplaceBusy(p)
		}
	}}
	k.stop = stop
	return ctx, func() {
		k.mu.Lock()
		k.stop = nil
		k.mu.Unlock()
		stop.again.End()
		cancel()
	}
}

// debugging returns a context for the answer to a debug request, which Interrupt ends until ended is
// called.
func (k *Kernel) debugging(ctx context.Context) (_ context.Context, ended func()) {
	ctx, cancel := context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopDebug = cancel
	return ctx, func() {
		k.mu.Lock()
		k.stopDebug = nil
		k.mu.Unlock()
		cancel()
	}
}

// Interrupt interrupts the current entry and the debug request that is being answered, or ends the
// texts that change if there is no entry. If the
// session has named ranks that have not stopped, the next call replaces these ranks.
func (k *Kernel) Interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopDebug != nil {
		k.stopDebug()
	}
	switch i := k.stop; {
	case i == nil:
		k.endLives()
	case i.at.IsZero():
		i.at = time.Now()
		i.cancel()
	case time.Since(i.at) >= session.KillAfter:
		i.again.Insist(i.replace)
	}
}
