package serve

import (
	"fmt"
	"sync"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// printer is the console.Printer of one entry: it sends output as it comes, keeps the outcome for
// the reply, and has a screen show both where the program asks for that.
type printer struct {
	s      *server
	id     uint64
	screen *notebook.Screen

	mu    sync.Mutex
	reply reply
}

func newPrinter(s *server, id uint64, q *run) *printer {
	p := &printer{s: s, id: id}
	publish := func(string, any) {}
	if q.Show != "" {
		publish = func(kind string, content any) { s.send(answer{ID: id, Show: &show{kind, content}}) }
	}
	title := q.Name
	if title == "" {
		title = "the cell"
	}
	p.screen = notebook.NewScreen(s.Console.Size, title, q.Show, 0, publish)
	return p
}

func (p *printer) event(o output) { p.s.send(answer{ID: p.id, Output: &o}) }

// Output implements console.Printer.
func (p *printer) Output(o session.Output) {
	stream := map[session.Stream]string{session.Stdout: "stdout", session.Stderr: "stderr", session.Note: "note"}[o.Stream]
	p.event(output{Ranks: o.Ranks, Stream: stream, Text: o.Text, Topic: o.Topic, Hang: o.Hang, Display: o.Display})
	p.screen.Output(o)
}

// ShowsNotesInPlace implements console.InPlacePrinter: a later table of waits has the present times.
func (p *printer) ShowsNotesInPlace() bool { return true }

// Reply implements console.Printer.
func (p *printer) Reply(r session.Reply) {
	var values []value
	for _, v := range r.Values {
		values = append(values, value(v))
	}
	errs, findings := toFailed(r.Errors, p.s.Console.Size), toFindings(r.Findings, p.s.Console.Size)
	p.mu.Lock()
	p.reply.Cell, p.reply.Values = r.Cell, values // of the entry's last cell
	p.reply.Elapsed += r.Elapsed
	p.reply.Errors = append(p.reply.Errors, errs...)
	p.reply.Findings = append(p.reply.Findings, findings...)
	p.mu.Unlock()
	p.screen.Reply(r)
}

// Print implements console.Printer.
func (p *printer) Print(text string) {
	p.event(output{Stream: "console", Text: text + "\n"})
	p.screen.Print(text)
}

// Note implements console.Printer.
func (p *printer) Note(ranks []int, format string, args ...any) {
	p.event(output{Ranks: ranks, Stream: "note", Text: fmt.Sprintf(format, args...) + "\n"})
	p.screen.Note(ranks, format, args...)
}

// Fail implements console.Printer.
func (p *printer) Fail(format string, args ...any) {
	why := render.Plain(fmt.Sprintf(format, args...))
	p.mu.Lock()
	if p.reply.Refused == "" {
		p.reply.Refused = why
	}
	p.mu.Unlock()
	p.screen.Fail(format, args...)
}

// CloseLine implements console.Printer.
func (p *printer) CloseLine() bool { return p.screen.CloseLine() }

// end returns the reply.
func (p *printer) end() *reply {
	failure := p.screen.End()
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.reply
	r.Failure = failure
	return &r
}
