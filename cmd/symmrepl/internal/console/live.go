package console

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/session"
)

// LivePrinter is a Printer that shows a text which changes after its entry has ended, while others
// run.
type LivePrinter interface {
	Printer
	// Live starts run and returns. Each text replaces the one before. The context of run ends when
	// the user interrupts while no entry runs, and when the front end ends.
	Live(run func(ctx context.Context, show func(text string)))
}

// lives numbers the texts that change in place.
var lives atomic.Uint64

// Live shows a text that changes in place until run returns: after the entry has ended if the
// printer is a LivePrinter, else during it. Ends names the user's way to end it sooner.
func (c *Call) Live(ctx context.Context, run func(ctx context.Context, ends string, show func(text string))) {
	r := c.Request
	ends := r.Stop
	if ends == "" {
		ends = "Ctrl-C"
	}
	if p, ok := r.Printer.(LivePrinter); ok {
		p.Live(func(ctx context.Context, show func(string)) { run(ctx, ends, show) })
		return
	}
	id, shown := "live "+strconv.FormatUint(lives.Add(1), 10), false
	run(ctx, ends, func(text string) {
		d := &session.Display{ID: id, Update: shown, Data: map[string]any{"text/plain": text}}
		r.Printer.Output(session.Output{Stream: session.Stdout, Text: text + "\n", Display: d})
		shown = true
	})
}
