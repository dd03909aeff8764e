package notebook

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/internal/forms"
	"github.com/symmrepl/symmrepl/session"
)

const (
	gather    = 20 * time.Millisecond // how long text waits for more
	gatherMax = 16 << 10              // bytes that do not wait
)

// Publish passes a message to the front ends: its type and its content, as Jupyter's messaging
// protocol names them. The types are stream, display_data, update_display_data, clear_output,
// execute_result and error. It may be called from several goroutines.
type Publish func(kind string, content any)

// Screen is the console.Printer of one entry: it publishes the outcome to notebooks. A
// render.Printer lays out text.
type Screen struct {
	*render.Printer
	Console bool // the front end is a text console: see showInConsole
	Whole   bool // long texts are not folded

	publish Publish
	title   string
	id      string
	number  int
	started time.Time

	held    held    // displays that wait for the displays of other ranks
	printed printed // the output of ranks

	mu     sync.Mutex                // guards the fields below
	failed *Failure                  // nil if nothing went wrong
	topics map[string]session.Output // the last note of each topic
	stream string                    // the stream that text belongs to
	text   []byte                    // printed but not published yet
	timer  *time.Timer
	named  map[string]*named // displays with a name, by it
	fold   fold              // the part of a long text that is not shown as it comes

	// Of a text console: see showInConsole.
	bar  string  // the display whose line is open; "" if there is none
	late Content // an update that is not published yet
}

// NewScreen returns a screen for an entry of a session of size ranks. title is the entry's name in
// remarks and number the number of its results; id is different for all entries of a notebook.
func NewScreen(size int, title, id string, number int, publish Publish) *Screen {
	s := &Screen{publish: onTheme(publish), title: title, id: id, number: number, started: time.Now(), topics: map[string]session.Output{}}
	s.Printer = render.New(stream{s, "stdout"}, stream{s, "stderr"}, size, false)
	return s
}

// stream writes printed text to the front ends as one of their streams.
type stream struct {
	s    *Screen
	name string
}

// Write delays text for a moment, so that many small writes become one message.
func (w stream) Write(b []byte) (int, error) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeBar()
	if s.stream != w.name {
		s.flush(true)
		s.stream = w.name
	}
	s.text = append(s.text, b...)
	switch {
	case len(s.text) >= gatherMax:
		s.flush(false)
	case s.timer == nil:
		s.timer = time.AfterFunc(gather, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.timer = nil
			s.flush(false)
		})
	}
	return len(b), nil
}

// flush publishes the text so far. Unless all is set, it keeps a last character that is not
// complete. s.mu is held.
func (s *Screen) flush(all bool) {
	n := len(s.text)
	if !all {
		n = wholeRunes(s.text)
	}
	if n > 0 {
		s.say(valid(string(s.text[:n])))
	}
	s.text = append(s.text[:0], s.text[n:]...)
}

// wholeRunes returns the length of text without a last character that is not complete.
func wholeRunes(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// valid returns a text with bytes that are not UTF-8 written as in strings of Go: messages cannot
// hold them.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			fmt.Fprintf(&b, `\x%02x`, text[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// CatchUp publishes all displays and text before an output that is no text.
func (s *Screen) CatchUp() {
	s.release()
	s.CloseLine()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeBar()
	s.flush(true)
	s.endFold()
}

// Flush publishes the text so far, also if its last line is open, as before a question to the user.
func (s *Screen) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush(true)
}

// End publishes the rest, and then the failure. It returns the failure, or nil.
func (s *Screen) End() *Failure {
	s.CatchUp()
	s.byRank()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.showLate()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.settle()
	if s.failed != nil {
		s.publish("error", Failure{Name: s.failed.Name, Value: s.failed.Value, Traceback: s.failed.shown()})
	}
	return s.failed
}

// HasFailed reports whether anything has gone wrong.
func (s *Screen) HasFailed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != nil
}

// Output implements console.Printer.
func (s *Screen) Output(o session.Output) {
	o = s.gather(o)
	d := o.Display
	if s.hold(o) {
		return
	}
	switch {
	case o.Stream == session.Note:
		s.note(o)
		return
	case d == nil:
		s.printed.add(o, s.Printer.Size)
		s.Printer.Output(o)
		return
	}
	message := Content{"data": forms.Shown(d.Data), "metadata": orEmpty(d.Metadata), "transient": Content{}}
	s.nameTabs(message["data"].(Content))
	if d.ID != "" {
		message["transient"] = Content{"display_id": d.ID}
	}
	s.CloseLine()
	if s.showInConsole(o, message) {
		return
	}
	s.CatchUp()
	if d.Clear {
		s.publish("clear_output", Content{"wait": d.Wait})
		return
	}
	if d.Update {
		s.publish("update_display_data", message)
		return
	}
	s.label(o.Ranks)
	s.publish("display_data", message)
}

// PrintForms implements console.FormPrinter.
func (s *Screen) PrintForms(text string, data map[string]any) {
	forms := Content{"text/plain": text}
	maps.Copy(forms, data)
	s.CatchUp()
	s.publish("display_data", Content{"data": forms, "metadata": Content{}, "transient": Content{}})
}

// label prints the ranks of the next output, unless it is from all.
func (s *Screen) label(ranks []int) {
	if len(ranks) < s.Printer.Size {
		s.Print(strings.TrimSpace(session.Prefix(ranks, s.Printer.Size)))
		s.CatchUp()
	}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Reply implements console.Printer. The values become one result, with a tab for each if they differ;
// so do values and errors together, or several errors, as a display before the failure. Values that
// do not fit into tabs become a result each.
func (s *Screen) Reply(r session.Reply) {
	s.CatchUp()
	errs := render.Alike(r.Errors)
	apart := len(errs) > 0 && s.apart(r.Values, errs)
	if !apart {
		s.values(r.Values)
	}
	for _, f := range r.Findings {
		s.finding(f)
	}
	if len(errs) > 0 {
		s.drawCycle(r.Errors)
		f := FailureOf(errs, s.Printer.Size)
		if apart {
			f.brief = briefly(errs, s.Printer.Size)
		}
		s.fail(f)
	}
}

// values publishes the values of ranks.
func (s *Screen) values(values []session.Value) {
	var text []session.Value
	for _, v := range values {
		if v.Data != nil && len(values) > 1 && !together(values) {
			s.result(text)
			text = nil
			s.label(v.Ranks)
			s.result([]session.Value{{Text: v.Text, Data: v.Data, Metadata: v.Metadata}})
			continue
		}
		text = append(text, v)
	}
	s.result(text)
}

// finding publishes a finding of the sanitizer as a display of its own.
func (s *Screen) finding(f session.Finding) {
	var text bytes.Buffer
	render.New(&text, &text, s.Printer.Size, false).Finding(f)
	data := Content{"text/plain": strings.TrimSuffix(text.String(), "\n"), "text/html": render.FindingHTML(f, s.Printer.Size)}
	s.publish("display_data", Content{"data": data, "metadata": Content{}, "transient": Content{}})
}

// result publishes values as a result of the entry.
func (s *Screen) result(values []session.Value) {
	if len(values) == 0 {
		return
	}
	data, metadata := Bundle(values, s.Printer.Size)
	s.nameTabs(data)
	s.publish("execute_result", Content{"execution_count": s.number, "data": data, "metadata": metadata})
}

// Fail implements console.Printer.
func (s *Screen) Fail(format string, args ...any) {
	text := render.Plain(fmt.Sprintf(format, args...))
	s.fail(Failure{Name: "refused", Value: text, Traceback: []string{text}})
}

// fail adds to the failure that end publishes.
func (s *Screen) fail(f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = &f
		return
	}
	s.failed.brief = append(s.failed.shown(), f.shown()...)
	s.failed.Traceback = append(s.failed.Traceback, f.Traceback...)
}

// Content is the content of a message.
type Content = map[string]any

// Failure is an error in the form of notebooks.
type Failure struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"` // several lines in each element, since some front ends put an empty line between elements

	brief []string // the output that is published in place of Traceback, if the errors have a display; nil if they have none
}

// shown returns the traceback that notebooks show.
func (f Failure) shown() []string {
	if f.brief != nil {
		return f.brief
	}
	return f.Traceback
}

// Content returns the failure as the content of a reply.
func (f Failure) Content() Content {
	return Content{"status": "error", "ename": f.Name, "evalue": f.Value, "traceback": f.Traceback}
}

// FailureOf returns the errors of a session of size ranks as a failure.
func FailureOf(errs []*session.Error, size int) Failure {
	errs = render.Alike(errs)
	var text bytes.Buffer
	p := render.New(&text, &text, size, true)
	p.Bold = true // notebooks show errors on a background of their own, dark or light, on which few colours are readable
	p.Reply(session.Reply{Errors: errs})
	first, _, _ := strings.Cut(errs[0].Error(), "\n")
	return Failure{
		Name:      string(errs[0].Kind),
		Value:     session.Prefix(errs[0].Ranks, size) + render.Plain(first),
		Traceback: []string{render.Unprefixed(strings.TrimSuffix(text.String(), "\n"))},
	}
}
