package jupyter

import (
	"context"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// interrupt holds how to interrupt an entry, and what a second interrupt does.
type interrupt struct {
	cancel context.CancelFunc
	insist func() // replaces the ranks that have not stopped
	at     time.Time
}

// Interrupt interrupts the current entry. If the session has named ranks that have not stopped, the
// next call replaces these ranks.
func (k *Kernel) Interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch i := k.stop; {
	case i == nil:
	case i.at.IsZero():
		i.at = time.Now()
		i.cancel()
	case time.Since(i.at) >= session.KillAfter:
		go i.insist()
	}
}
