package notebook

import (
	"html"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// named holds the ranks' forms under one name, such as a progress bar each: they become one
// display, which has one line for all ranks that show the same.
type named struct {
	by map[int]map[string]any // forms, by rank
}

// gather returns a display with a name in place of o, one for all ranks that show something under
// this name in the entry. It returns o if the display has other forms than text and HTML, of which
// several cannot be shown together.
func (s *Screen) gather(o session.Output) session.Output {
	d := o.Display
	if d == nil || d.ID == "" {
		return o
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.named[d.ID]
	again := n != nil && slices.ContainsFunc(o.Ranks, func(r int) bool { return n.by[r] != nil })
	if n == nil || again && !d.Update {
		if d.Update { // of an earlier entry
			return o
		}
		n = &named{by: map[int]map[string]any{}}
		if s.named == nil {
			s.named = map[string]*named{}
		}
		s.named[d.ID] = n
	}
	update := len(n.by) > 0
	for _, r := range o.Ranks {
		n.by[r] = d.Data
	}
	text, markup, ok := n.compose(s.Printer.Size)
	if !ok {
		return o
	}
	all := *d
	all.Update = update
	all.Data = map[string]any{"text/plain": text}
	if markup != "" {
		all.Data["text/html"] = markup
	}
	o.Text, o.Ranks, o.Display = text+"\n", nil, &all
	for r := range s.Printer.Size {
		o.Ranks = append(o.Ranks, r) // the display names its ranks itself
	}
	return o
}

// compose returns the forms of a display for all ranks of a session: each different one with its
// ranks, unless all ranks show the same.
func (n *named) compose(size int) (text, markup string, ok bool) {
	var shown []map[string]any
	var by [][]int
	for _, r := range slices.Sorted(maps.Keys(n.by)) {
		at := slices.IndexFunc(shown, func(other map[string]any) bool { return reflect.DeepEqual(other, n.by[r]) })
		if at < 0 {
			shown, by = append(shown, n.by[r]), append(by, nil)
			at = len(shown) - 1
		}
		by[at] = append(by[at], r)
	}
	var texts []string
	for i, forms := range shown {
		plain, isText := forms["text/plain"].(string)
		rich, isHTML := forms["text/html"].(string)
		if !isText || len(forms) > 2 || len(forms) == 2 && !isHTML || i > 0 && isHTML != (markup != "") {
			return "", "", false
		}
		prefix := session.Prefix(by[i], size)
		if len(by[i]) == size {
			prefix = ""
		}
		for line := range strings.Lines(strings.TrimSuffix(plain, "\n") + "\n") {
			texts = append(texts, prefix+strings.TrimSuffix(line, "\n"))
		}
		switch {
		case isHTML && prefix == "":
			markup = rich
		case isHTML:
			markup += "<div><code>" + html.EscapeString(strings.TrimSpace(prefix)) + "</code> " + rich + "</div>"
		}
	}
	return strings.Join(texts, "\n"), markup, true
}
