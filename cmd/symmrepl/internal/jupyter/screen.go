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
	gather    = 20 * time.Millisecond // how long text is kept for more to come
	gatherMax = 16 << 10              // bytes that are not kept longer
)

// screen shows in notebooks what comes of one entry. It is a console's printer: text is put in lines by a render.Printer.
type screen struct {
	*render.Printer
	k       *Kernel
	request *request
	number  int
	silent  bool
	input   bool // the front end offers standard input

	failed  *failure // what went wrong, first and last
	payload []any

	mu     sync.Mutex
	stream string // what text is of
	text   []byte // that is not published yet
	timer  *time.Timer
}

func newScreen(k *Kernel, r *request, number int, silent bool) *screen {
	s := &screen{k: k, request: r, number: number, silent: silent, payload: []any{}}
	s.Printer = render.New(stream{s, "stdout"}, stream{s, "stderr"}, 1, false)
	return s
}

// stream is the way of printed text to the front ends.
type stream struct {
	s    *screen
	name string
}

// Write keeps text for a moment, so that many small writes are one message.
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

// flush publishes the text so far. Unless all of it is asked for, a character that has come in part stays.
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

// wholeRunes returns how long text is without a last character that has come in part.
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

// catchUp publishes all text, so that something else may follow.
func (s *screen) catchUp() {
	s.CloseLine()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush(true)
}

// end publishes what is left, last of all what went wrong.
func (s *screen) end() {
	s.catchUp()
	s.mu.Lock()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	if s.failed != nil {
		s.publish("error", s.failed)
	}
}

func (s *screen) publish(kind string, c any) {
	if !s.silent {
		s.k.publish(s.request, kind, c)
	}
}

// Output implements console.Printer.
func (s *screen) Output(o session.Output) {
	d := o.Display
	if d == nil {
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

// label says whose the next thing is, unless it is everybody's.
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

// Reply implements console.Printer. Values that are text are one result, and so are those that can be put into tabs; others that are not everybody's are
// shown each.
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
	if len(r.Errors) > 0 {
		f := failed(r.Errors, s.Printer.Size)
		s.fail(f)
	}
}

// result publishes values as the entry's result.
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

// bundle returns values by MIME type: as text, folded by rank, and in the forms of the only one, whose metadata are theirs, or as tabs.
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
	text := fmt.Sprintf(format, args...)
	s.fail(failure{"refused", text, []string{text}})
}

// fail adds to what went wrong; it is published when the entry ends.
func (s *screen) fail(f failure) {
	if s.failed == nil {
		s.failed = &f
		return
	}
	s.failed.Traceback = append(s.failed.Traceback, f.Traceback...)
}

// failure is what notebooks show of something that went wrong.
type failure struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"` // each of several lines: some front ends put an empty line between them
}

func (f failure) content() content {
	return content{"status": "error", "ename": f.Name, "evalue": f.Value, "traceback": f.Traceback}
}

// failed is what errors of a session of size ranks are as a failure.
func failed(errs []*session.Error, size int) failure {
	var text bytes.Buffer
	p := render.New(&text, &text, size, true)
	p.Reply(session.Reply{Errors: errs})
	first, _, _ := strings.Cut(errs[0].Error(), "\n")
	return failure{string(errs[0].Kind), session.Prefix(errs[0].Ranks, size) + first, []string{strings.TrimSuffix(text.String(), "\n")}}
}
