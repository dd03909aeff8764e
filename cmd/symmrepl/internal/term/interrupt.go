package term

import (
	"context"
	"sync"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// interrupter turns Ctrl-C into an interrupt of the current entry, and another Ctrl-C into the
// replacement of ranks that are still busy.
type interrupter struct {
	console *console.Console
	printer console.Printer
	cancel  context.CancelFunc

	mu      sync.Mutex
	pressed bool
}

// press handles Ctrl-C. It does not wait.
func (i *interrupter) press() {
	i.mu.Lock()
	again := i.pressed
	i.pressed = true
	i.mu.Unlock()
	if again {
		go i.console.ReplaceBusy(i.printer)
		return
	}
	i.printer.CloseLine()
	i.printer.Note(nil, "^C interrupting; Ctrl-C again replaces the ranks that stay busy")
	i.cancel()
}
