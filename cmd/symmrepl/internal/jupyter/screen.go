package jupyter

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

const (
	gather    = 20 * time.Millisecond // how long text waits for more
	gatherMax = 16 << 10              // bytes that do not wait
)

// screen is the console.Printer of one entry: it publishes the outcome to the notebooks. A
// render.Printer lays out text.
type screen struct {
	*render.Printer
	k       *Kernel
	request *request
	number  int
	silent  bool
	input   bool // the front end offers standard input

	payload []any
	started time.Time

	mu     sync.Mutex      // guards the fields below
	failed *failure        // nil if nothing went wrong
	topics map[string]bool // of the notes shown so far
	stream string          // the stream that text belongs to
	text   []byte          // printed but not published yet
	timer  *time.Timer
}

func newScreen(k *Kernel, r *request, number int, silent bool) *screen {
	s := &screen{k: k, request: r, number: number, silent: silent, payload: []any{}, started: time.Now(), topics: map[string]bool{}}
	s.Printer = render.New(stream{s, "stdout"}, stream{s, "stderr"}, 1, false)
	return s
}

// stream writes printed text to the front ends as one of their streams.
type stream struct {
	s    *screen
	name string
}

// Write delays text for a moment, so that many small writes become one message.
func (w stream) Write(b []byte) (int, error) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
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
func (s *screen) flush(all bool) {
	n := len(s.text)
	if !all {
		n = wholeRunes(s.text)
	}
	if n > 0 {
		s.publish("stream", content{"name": s.stream, "text": string(s.text[:n])})
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

// catchUp publishes all text before an output that is no text.
func (s *screen) catchUp() {
	s.CloseLine()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush(true)
}

// end publishes the rest, and then the failure. It returns the failure, or nil.
func (s *screen) end() *failure {
	s.catchUp()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.failed != nil {
		s.publish("error", s.failed)
	} else {
		s.settle()
	}
	return s.failed
}

// hasFailed reports whether anything has gone wrong.
func (s *screen) hasFailed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != nil
}

func (s *screen) publish(kind string, c any) {
	if !s.silent {
		s.k.publish(s.request, kind, c)
	}
}

// Output implements console.Printer.
func (s *screen) Output(o session.Output) {
	d := o.Display
	switch {
	case o.Stream == session.Note:
		s.note(o)
		return
	case d == nil:
		s.Printer.Output(o)
		return
	}
	s.catchUp()
	if d.Clear {
		s.publish("clear_output", content{"wait": d.Wait})
		return
	}
	message := content{"data": orEmpty(d.Data), "metadata": orEmpty(d.Metadata), "transient": content{}}
	if d.ID != "" {
		message["transient"] = content{"display_id": d.ID}
	}
	if d.Update {
		s.publish("update_display_data", message)
		return
	}
	s.label(o.Ranks)
	s.publish("display_data", message)
}

// Note implements console.Printer.
func (s *screen) Note(ranks []int, format string, args ...any) {
	s.note(session.Output{Ranks: ranks, Stream: session.Note, Text: fmt.Sprintf(format, args...) + "\n"})
}

// note shows a remark of the session as a display of its own, because notebooks draw standard error
// like errors. A note replaces the previous one of its topic.
func (s *screen) note(o session.Output) {
	var text bytes.Buffer
	render.New(&text, &text, s.Printer.Size, false).Output(o)
	message := content{"data": content{"text/plain": strings.TrimSuffix(text.String(), "\n")}, "metadata": content{}, "transient": content{}}
	if o.Topic != "" {
		message["transient"] = content{"display_id": s.noteID(o.Topic)}
		s.mu.Lock()
		shown := s.topics[o.Topic]
		s.topics[o.Topic] = true
		s.mu.Unlock()
		if shown {
			s.publish("update_display_data", message)
			return
		}
	}
	s.catchUp()
	s.publish("display_data", message)
}

// settle replaces the entry's notes with a topic, which described waits that are over, by the time
// that the entry took. s.mu is held.
func (s *screen) settle() {
	for topic := range s.topics {
		s.publish("update_display_data", content{
			"data":     content{"text/plain": fmt.Sprintf("In[%d] took %.1f s", s.number, time.Since(s.started).Seconds())},
			"metadata": content{}, "transient": content{"display_id": s.noteID(topic)},
		})
	}
}

// noteID names the display of the notes with a topic.
func (s *screen) noteID(topic string) string { return s.request.ID + " " + topic }

// label prints the ranks of the next output, unless it is from all.
func (s *screen) label(ranks []int) {
	if len(ranks) < s.Printer.Size {
		s.Print(strings.TrimSpace(session.Prefix(ranks, s.Printer.Size)))
		s.catchUp()
	}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Reply implements console.Printer. Text values become one result, and so do values that fit into
// tabs; other values that not all ranks share become a result each.
func (s *screen) Reply(r session.Reply) {
	s.catchUp()
	var text []session.Value
	for _, v := range r.Values {
		if v.Data != nil && len(r.Values) > 1 && render.ByRank(r.Values) == "" {
			s.result(text)
			text = nil
			s.label(v.Ranks)
			s.result([]session.Value{{Text: v.Text, Data: v.Data, Metadata: v.Metadata}})
			continue
		}
		text = append(text, v)
	}
	s.result(text)
	for _, f := range r.Findings {
		s.finding(f)
	}
	if len(r.Errors) > 0 {
		s.fail(failureOf(r.Errors, s.Printer.Size))
	}
}

// finding publishes a finding of the sanitizer as a display of its own.
func (s *screen) finding(f session.Finding) {
	var text bytes.Buffer
	render.New(&text, &text, s.Printer.Size, false).Finding(f)
	data := content{"text/plain": strings.TrimSuffix(text.String(), "\n"), "text/html": render.FindingHTML(f, s.Printer.Size)}
	s.publish("display_data", content{"data": data, "metadata": content{}, "transient": content{}})
}

// result publishes values as a result of the entry.
func (s *screen) result(values []session.Value) {
	if len(values) == 0 {
		return
	}
	data, metadata := bundle(values, s.Printer.Size)
	if text, ok := data["text/plain"].(string); ok {
		s.k.history.result(s.number, text)
	}
	s.publish("execute_result", content{"execution_count": s.number, "data": data, "metadata": metadata})
}

// bundle returns values by MIME type: as text, folded by rank, and also either in the other forms
// of the only value, with its metadata, or as tabs.
func bundle(values []session.Value, size int) (data, metadata content) {
	var text bytes.Buffer
	data, metadata = content{}, content{}
	render.New(&text, &text, size, false).Reply(session.Reply{Values: values})
	data["text/plain"] = strings.TrimSuffix(text.String(), "\n")
	if len(values) == 1 {
		maps.Copy(data, values[0].Data)
		maps.Copy(metadata, values[0].Metadata)
	} else if slices.ContainsFunc(values, func(v session.Value) bool { return v.Data != nil }) {
		data["text/html"] = render.ByRank(values)
	}
	return data, metadata
}

// Fail implements console.Printer.
func (s *screen) Fail(format string, args ...any) {
	text := render.Plain(fmt.Sprintf(format, args...))
	s.fail(failure{"refused", text, []string{text}})
}

// fail adds to the failure that end publishes.
func (s *screen) fail(f failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = &f
		return
	}
	s.failed.Traceback = append(s.failed.Traceback, f.Traceback...)
}

// failure is an error in the form of notebooks.
type failure struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"` // several lines in each element, since some front ends put an empty line between elements
}

func (f failure) content() content {
	return content{"status": "error", "ename": f.Name, "evalue": f.Value, "traceback": f.Traceback}
}

// failureOf returns the errors of a session of size ranks as a failure.
func failureOf(errs []*session.Error, size int) failure {
	errs = render.Alike(errs)
	var text bytes.Buffer
	p := render.New(&text, &text, size, true)
	p.Bold = true // notebooks show errors on a background of their own, dark or light, on which few colours are readable
	p.Reply(session.Reply{Errors: errs})
	first, _, _ := strings.Cut(errs[0].Error(), "\n")
	return failure{string(errs[0].Kind), session.Prefix(errs[0].Ranks, size) + render.Plain(first), []string{strings.TrimSuffix(text.String(), "\n")}}
}
