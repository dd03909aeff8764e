package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session"
)

// Finding writes a finding of the sanitizer: its kind and memory, each access with its line of
// source, the missing order, and a repair.
//
//	[1] race between ranks: element 5 of f32[64] of rank 0, allocated at cell[3]:1
//	[1]   cell[3]:7:14: rank 1, kernel add, block [0 0 0], thread [5 0 0] and 63 more, reads 4 bytes (launched at cell[3]:12)
//	[1]     total += h.buffer<float>(p)[threadIdx.x];
//	[1]              ^~~~~
//	[1]   cell[3]:2:39: …
//	[1]     order: …
//	[1]     repair: …
func (p *Printer) Finding(f session.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writeLate()
	p.closeLine()
	p.buf.Reset()
	prefix := session.Prefix(f.Ranks, p.Size)
	for _, l := range report(f) {
		text := l.text
		if l.prose {
			text = p.fit(prefix, text)
		}
		p.lines(prefix, l.style, text+"\n")
	}
	p.write(p.err)
}

// reportLine is a line of a report.
type reportLine struct {
	style string
	text  string
	prose bool // may be broken between words
}

// report is a finding in lines.
func report(f session.Finding) []reportLine {
	switch {
	case f.Allowed != "":
		return []reportLine{{styleNote, Plain(f.Kind + ", allowed by the comment at " + f.Allowed), true}}
	case f.Again != "":
		return []reportLine{{styleError, Plain(again(f)), true}}
	}
	lines := []reportLine{{styleError, Plain(headOf(f)), true}}
	add := func(style, text string, prose bool) { lines = append(lines, reportLine{style, Plain(text), prose}) }
	for _, a := range f.Accesses {
		add("", "  "+accessOf(a), true)
		if source, caret := excerpt(a.Source, a.Column); source != "" {
			add("", "    "+source, false)
			if caret != "" {
				add(styleCaret, "    "+caret, false)
			}
		}
	}
	if f.Order != "" {
		add(styleDetail, "    order: "+f.Order, true)
	}
	if f.Repair != "" {
		add(styleHint, "    repair: "+f.Repair, true)
	}
	if f.Seed != 0 {
		add(styleDetail, fmt.Sprintf("    the order of seed %d shows it: --seed %d", f.Seed, f.Seed), true)
	}
	return lines
}

// again describes a finding that was reported before in one line: "again: race between ranks, as in
// cell[3], at cell[1]:7:14 and cell[3]:2".
func again(f session.Finding) string {
	var places []string
	for _, a := range f.Accesses {
		if place := a.Place(); place != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	text := "again: " + f.Kind + ", as in " + f.Again
	if len(places) > 0 {
		text += ", at " + strings.Join(places, " and ")
	}
	return text
}

// headOf returns the kind of a finding, and its memory.
func headOf(f session.Finding) string {
	if f.Memory == "" {
		return f.Kind
	}
	return f.Kind + ": " + f.Memory
}

// accessOf describes an access: its position, its rank and kernel, and its kind of access.
func accessOf(a session.Access) string {
	var b strings.Builder
	if place := a.Place(); place != "" {
		b.WriteString(place + ": ")
	}
	fmt.Fprintf(&b, "rank %d, ", a.Rank)
	switch a.Kernel {
	case "":
		b.WriteString("the host, ")
	case "copy", "set":
		fmt.Fprintf(&b, "a %s of a stream, ", a.Kernel)
	default:
		fmt.Fprintf(&b, "kernel %s, block %v, thread %v", a.Kernel, a.Block, a.Thread)
		if a.Threads > 1 {
			fmt.Fprintf(&b, " and %d more", a.Threads-1)
		}
		b.WriteString(", ")
	}
	b.WriteString(a.Op)
	if a.Bytes > 0 {
		b.WriteString(" " + count.Of(a.Bytes, "byte"))
	}
	switch place := a.Place(); {
	case a.File != "" && place == a.At:
		fmt.Fprintf(&b, " (in %s:%d)", a.File, a.Line)
	case a.At != "" && !strings.HasPrefix(place, a.At+":"):
		b.WriteString(" (launched at " + a.At + ")")
	}
	return b.String()
}

// FindingsJSON returns findings as one JSON text, for other programs.
func FindingsJSON(found []session.Finding) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetIndent("", "  ")
	out.Encode(map[string]any{"findings": append([]session.Finding{}, found...)})
	return b.String()
}
