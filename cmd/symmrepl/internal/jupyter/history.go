package jupyter

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// history records the entries of this kernel.
type history struct {
	mu      sync.Mutex
	entries []entry
}

type entry struct {
	number        int
	input, output string
}

func (h *history) add(number int, input string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, entry{number: number, input: input})
}

// result records the result of the last entry.
func (h *history) result(number int, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.entries); n > 0 && h.entries[n-1].number == number {
		h.entries[n-1].output = text
	}
}

// historyRequest asks for the last N entries, for those from Start up to Stop, or for the last N
// that match a Pattern with * and ?.
type historyRequest struct {
	Output  bool   `json:"output"`
	Access  string `json:"hist_access_type"`
	Session int    `json:"session"` // 0 or 1, the current session; there is no other
	Start   int    `json:"start"`
	Stop    *int   `json:"stop"`
	N       *int   `json:"n"`
	Pattern string `json:"pattern"`
	Unique  bool   `json:"unique"`
}

// find returns triples of session, number and input, or input and output.
func (h *history) find(q historyRequest) []any {
	h.mu.Lock()
	found := slices.Clone(h.entries)
	h.mu.Unlock()
	switch q.Access {
	case "range":
		found = slices.DeleteFunc(found, func(e entry) bool {
			return q.Session != 0 && q.Session != 1 || e.number < q.Start || q.Stop != nil && e.number >= *q.Stop
		})
	case "search":
		pattern := glob(q.Pattern)
		found = slices.DeleteFunc(found, func(e entry) bool { return !pattern.MatchString(e.input) })
		if q.Unique {
			found = lastOfEach(found)
		}
	}
	if q.Access != "range" && q.N != nil {
		found = found[max(0, len(found)-max(0, *q.N)):]
	}
	list := []any{}
	for _, e := range found {
		var what any = e.input
		if q.Output {
			what = []any{e.input, e.output}
		}
		list = append(list, []any{1, e.number, what})
	}
	return list
}

func lastOfEach(entries []entry) []entry {
	last := map[string]int{}
	for _, e := range entries {
		last[e.input] = e.number
	}
	return slices.DeleteFunc(entries, func(e entry) bool { return last[e.input] != e.number })
}

func glob(pattern string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(pattern)
	return regexp.MustCompile(`(?s)^` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted) + `$`)
}
