package term

import (
	"context"
	"sync"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// interrupter handles Ctrl-C while an entry runs: the first one interrupts the entry, each later
// one replaces the ranks that are still busy.
type interrupter struct {
	console *console.Console
	printer console.Printer
	cancel  context.CancelFunc
	again   console.Insistence

	mu      sync.Mutex
	pressed bool
}

// press is Ctrl-C. It does not wait.
func (i *interrupter) press() {
	i.mu.Lock()
	again := i.pressed
	i.pressed = true
	i.mu.Unlock()
	if again {
		i.again.Insist(func() { i.console.ReplaceBusy(i.printer) })
		return
	}
	i.printer.CloseLine()
	i.printer.Note(nil, "^C interrupting; Ctrl-C again replaces the ranks that stay busy")
	i.cancel()
}
