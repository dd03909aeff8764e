package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// links are the connections between ranks.
type links struct {
	ranks []int
	names [][]string // of the link between two ranks; "" if they have none
}

// linksOf returns the links between several ranks, or nil if a link is not known.
func linksOf(answers []session.Answer) *links {
	if len(answers) < 2 {
		return nil
	}
	l := &links{}
	for _, a := range answers {
		var row []string
		for _, b := range answers {
			name, known := between(a.Topology, b.Topology)
			if !known && a.Rank != b.Rank {
				return nil
			}
			if a.Rank == b.Rank {
				name = ""
			}
			row = append(row, name)
		}
		l.ranks, l.names = append(l.ranks, a.Rank), append(l.names, row)
	}
	return l
}

// between describes the link from a rank's device to another rank's device.
func between(a, b *session.Topology) (name string, known bool) {
	switch {
	case a == nil || b == nil:
		return "", false
	case a.Host != b.Host:
		return "other host, " + a.Between + " carries traffic to it", true
	case a.Part != b.Part:
		return "not mapped, " + a.Between + " carries traffic to it", true
	case a.Medium != "":
		return a.Medium, a.Medium == b.Medium
	case a.ID == b.ID:
		return "the same GPU, " + a.Manner, true
	}
	i := slices.IndexFunc(a.Links, func(l session.Link) bool { return l.ID == b.ID })
	if i < 0 {
		return "", false
	}
	return a.Links[i].String(), true
}

// kinds lists the different links.
func (l *links) kinds() []string {
	var kinds []string
	for _, row := range l.names {
		for _, name := range row {
			if name != "" && !slices.Contains(kinds, name) {
				kinds = append(kinds, name)
			}
		}
	}
	return kinds
}

// table returns a matrix of the links by their first words, and the rest of each below it. A single
// kind of link needs no matrix.
func (l *links) table() string {
	kinds := l.kinds()
	if len(kinds) == 1 {
		return "all ranks: " + kinds[0]
	}
	rows := [][]string{{""}}
	for _, r := range l.ranks {
		rows[0] = append(rows[0], fmt.Sprint("rank ", r))
	}
	for i, row := range l.names {
		line := []string{rows[0][i+1]}
		for j, name := range row {
			switch short, _, _ := strings.Cut(name, ","); {
			case i == j:
				line = append(line, "–")
			case name == "":
				line = append(line, "none")
			default:
				line = append(line, short)
			}
		}
		rows = append(rows, line)
	}
	text := render.Table(rows)
	for _, kind := range kinds {
		if short, more, ok := strings.Cut(kind, ", "); ok {
			text += fmt.Sprintf("%s: %s\n", short, more)
		}
	}
	return strings.TrimSuffix(text, "\n")
}
