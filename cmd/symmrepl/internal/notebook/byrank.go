package notebook

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/internal/forms"
	"github.com/symmrepl/symmrepl/internal/tabs"
	"github.com/symmrepl/symmrepl/session"
)

// holdTime is the time for which a display of some ranks waits for the displays of the others.
const holdTime = 200 * time.Millisecond

// held are displays of different ranks that become one output.
type held struct {
	mu     sync.Mutex
	values []session.Value
	timer  *time.Timer
}

// hold takes a display that not all ranks share, which the next ones of other ranks join. It
// reports whether it did; before any other output it publishes the displays that it holds.
func (s *Screen) hold(o session.Output) bool {
	d := o.Display
	joins := d != nil && o.Stream == session.Stdout && !d.Clear && !d.Update && d.ID == "" && len(o.Ranks) < s.Printer.Size
	h := &s.held
	h.mu.Lock()
	taken := 0
	for _, v := range h.values {
		taken += len(v.Ranks)
		joins = joins && !slices.ContainsFunc(v.Ranks, func(r int) bool { return slices.Contains(o.Ranks, r) })
	}
	if joins {
		if taken == 0 {
			h.timer = time.AfterFunc(holdTime, s.release)
		}
		h.values = append(h.values, session.Value{Ranks: o.Ranks, Text: strings.TrimSuffix(o.Text, "\n"), Data: d.Data,
			Metadata: d.Metadata})
	}
	h.mu.Unlock()
	switch {
	case !joins && taken > 0:
		s.release()
		return s.hold(o)
	case joins && taken+len(o.Ranks) == s.Printer.Size:
		s.release()
	}
	return joins
}

// release publishes the displays that are held: as one, or each with its ranks if they do not fit into
// one.
func (s *Screen) release() {
	h := &s.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.timer.Stop()
	}
	values := h.values
	h.values = nil
	if len(values) == 0 {
		return
	}
	s.CloseLine()
	s.Flush()
	publish := func(values []session.Value) {
		data, metadata := Bundle(values, s.Printer.Size)
		s.nameTabs(data)
		s.publish("display_data", Content{"data": data, "metadata": metadata, "transient": Content{}})
	}
	if len(values) > 1 && together(values) {
		publish(values)
		return
	}
	for _, v := range values {
		s.Print(strings.TrimSpace(session.Prefix(v.Ranks, s.Printer.Size)))
		s.Flush()
		data := Content{"text/plain": v.Text}
		maps.Copy(data, forms.Shown(v.Data))
		s.nameTabs(data)
		s.publish("display_data", Content{"data": data, "metadata": orEmpty(v.Metadata), "transient": Content{}})
	}
}

// nameTabs gives the tabs in a message's HTML names of their own in the notebook. Those of a numbered
// entry depend on its number, so that executing a notebook again gives the same file.
func (s *Screen) nameTabs(data Content) {
	id := s.id
	if s.number > 0 {
		id = fmt.Sprint(s.number)
	}
	if text, ok := data["text/html"].(string); ok {
		data["text/html"] = tabs.Name(text, id)
	}
}

// apart publishes the values and errors of ranks that did not end alike, as a display with a tab
// for each. It returns false, and publishes nothing, if there is one error and no value, or if a
// value does not fit into a tab.
func (s *Screen) apart(values []session.Value, errs []*session.Error) bool {
	page := render.ByRank(values, errs)
	if page == "" {
		return false
	}
	var text bytes.Buffer
	render.New(&text, &text, s.Printer.Size, false).Reply(session.Reply{Values: values, Errors: errs})
	data := Content{"text/plain": strings.TrimSuffix(text.String(), "\n"), "text/html": page}
	s.nameTabs(data)
	s.publish("display_data", Content{"data": data, "metadata": Content{}, "transient": Content{}})
	return true
}

// briefly returns the first lines of errors that a display shows whole.
func briefly(errs []*session.Error, size int) []string {
	var lines []string
	for _, e := range errs {
		head := *e
		head.Hint = "" // its tab has it
		first, _, _ := strings.Cut(head.Error(), "\n")
		lines = append(lines, session.Prefix(e.Ranks, size)+render.Plain(first))
	}
	return []string{strings.Join(lines, "\n")}
}

const (
	fewLines  = 12      // printed lines that differ and are easy to read as they come
	mostBytes = 1 << 18 // of printed text that is kept
)

// printed holds the text that ranks have printed.
type printed struct {
	mu     sync.Mutex
	of     map[int][]byte // by rank; nil if it was too much
	size   int            // bytes
	differ int            // lines that not all ranks printed
}

// add adds text of ranks in a session of size ranks.
func (p *printed) add(o session.Output, size int) {
	if o.Ranks == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size += len(o.Text) * len(o.Ranks); p.size > mostBytes {
		p.of = nil
		return
	}
	if p.of == nil {
		p.of = map[int][]byte{}
	}
	for _, rank := range o.Ranks {
		p.of[rank] = append(p.of[rank], o.Text...)
	}
	if len(o.Ranks) < size {
		p.differ += strings.Count(o.Text, "\n")
	}
}

// byRank publishes a tab for each rank's printed text, below that text as it came, if many lines
// differ. The tabs are closed. Front ends that show no HTML show nothing.
func (s *Screen) byRank() {
	p := &s.printed
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil || p.differ <= fewLines {
		return
	}
	var values []session.Value
	at := map[string]int{}
	for _, rank := range slices.Sorted(maps.Keys(p.of)) {
		text := strings.TrimSuffix(string(p.of[rank]), "\n")
		i, known := at[text]
		if !known {
			i = len(values)
			at[text], values = i, append(values, session.Value{Text: text})
		}
		values[i].Ranks = append(values[i].Ranks, rank)
	}
	page := render.ByRank(values, nil)
	if page == "" {
		return
	}
	data := Content{"text/html": "<details><summary>by rank</summary>" + page + "</details>"}
	s.nameTabs(data)
	s.publish("display_data", Content{"data": data, "metadata": Content{}, "transient": Content{}})
}
