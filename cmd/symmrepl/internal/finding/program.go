package finding

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem/foreign"
)

// Program collects what ranks report that are processes of Python. The zero value is ready.
type Program struct {
	reports []foreign.Report
	lines   map[int]foreign.Line // of all ranks: an access names the line of the rank that made it
	ended   map[int]bool
	unseen  []foreign.UnseenThing
}

// Add takes a report in JSON, as module symmrepl.emulator.sanitize makes it. The error says that it
// is none.
func (p *Program) Add(message []byte) error {
	var r foreign.Report
	if err := json.Unmarshal(message, &r); err != nil {
		return fmt.Errorf("this is no report of the sanitizer: %w", err)
	}
	if _, err := foreign.Findings(r); err != nil {
		return err
	}
	if p.lines == nil {
		p.lines, p.ended = map[int]foreign.Line{}, map[int]bool{}
	}
	for number, line := range r.Lines {
		p.lines[number] = line
	}
	p.ended[r.Rank] = p.ended[r.Rank] || r.Ended
	for _, u := range r.Unseen {
		if !slices.Contains(p.unseen, u) {
			p.unseen = append(p.unseen, u)
		}
	}
	p.reports = append(p.reports, r)
	return nil
}

// Ended reports whether a rank has sent its last report: if not, there may be findings of its that
// nobody knows.
func (p *Program) Ended(rank int) bool { return p.ended[rank] }

// Unseen lists ways by which the program has accessed memory unseen, each once.
func (p *Program) Unseen() []foreign.UnseenThing { return p.unseen }

// Findings returns the findings of all reports, each once, with the ranks that reported it.
func (p *Program) Findings() []session.Finding {
	var all session.Findings
	for _, r := range p.reports {
		found, _ := foreign.Findings(r) // Add has looked at it
		for _, f := range Of(found, p.place) {
			f.Ranks = []int{r.Rank}
			all.Add(f)
		}
	}
	return all.List()
}

// place sets an error's position to the line of a number.
func (p *Program) place(e *session.Error, at int) {
	if l, ok := p.lines[at]; ok {
		e.File, e.Line, e.Source = l.File, l.Line, l.Source
	}
}
