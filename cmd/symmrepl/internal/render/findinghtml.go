package render

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
)

// accessColours tell the accesses of a finding apart, for people with any kind of colour blindness
// and on light and dark pages: blue and vermilion of the palette of Okabe and Ito.
var accessColours = []string{"#0072b2", "#d55e00"}

// mostDrawn is the largest number of ranks that are all drawn.
const mostDrawn = 16

// ofRank matches the rank in the description of memory.
var ofRank = regexp.MustCompile(`of rank ([0-9]+)`)

// FindingHTML returns a finding of a session of size ranks as a piece of HTML for notebooks: the
// ranks, with the access of each; a pane for each access, with its line marked; the order, and a
// repair. It uses no script or style sheet, because notebooks remove these when they are opened
// again.
func FindingHTML(f session.Finding, size int) string {
	lines := report(f)
	head := html.EscapeString(session.Prefix(f.Ranks, size) + lines[0].text)
	if len(lines) == 1 {
		return head
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="symm-finding"><b>%s</b>`, head)
	if size > 1 {
		b.WriteString(ranksOf(f, size))
	}
	b.WriteString(`<div style="display:flex;flex-wrap:wrap;gap:12px;margin:6px 0">`)
	for i, a := range f.Accesses {
		fmt.Fprintf(&b, `<div style="flex:1 1 320px;border-left:4px solid %s;padding-left:8px;overflow-x:auto"><div>%s</div>%s</div>`,
			accessColours[i%len(accessColours)], html.EscapeString(Plain(numbered(i, f)+accessOf(a))), sourceOf(a))
	}
	b.WriteString("</div>")
	for _, l := range lines[1:] {
		text := html.EscapeString(strings.TrimSpace(l.text))
		switch l.style {
		case styleHint:
			b.WriteString("<div><b>" + text + "</b></div>")
		case styleDetail:
			b.WriteString("<div>" + text + "</div>")
		}
	}
	b.WriteString("</div>")
	return b.String()
}

// numbered is the number of an access, by which the ranks name it: "1. ", or "" if there is one.
func numbered(i int, f session.Finding) string {
	if len(f.Accesses) < 2 {
		return ""
	}
	return strconv.Itoa(i+1) + ". "
}

// ranksOf draws a box for each rank, with its accesses and the memory that they met in. In a large
// session only the ranks that have one of these are drawn.
func ranksOf(f session.Finding, size int) string {
	does := map[int][]string{}
	for i, a := range f.Accesses {
		did := fmt.Sprintf(`<div style="border-left:4px solid %s;padding-left:4px">%s</div>`,
			accessColours[i%len(accessColours)], html.EscapeString(Plain(numbered(i, f)+a.Op)))
		for _, rank := range a.By() {
			does[rank] = append(does[rank], did)
		}
	}
	const met = "<div>▣ memory</div>"
	for _, memory := range append([]string{f.Memory}, f.Also...) {
		if m := ofRank.FindStringSubmatch(memory); m != nil {
			if rank, err := strconv.Atoi(m[1]); err == nil && !slices.Contains(does[rank], met) {
				does[rank] = append(does[rank], met)
			}
		}
	}
	var ranks []int
	for rank := range does {
		if rank < 0 || rank >= size {
			continue
		}
		ranks = append(ranks, rank)
	}
	if size <= mostDrawn {
		ranks = ranks[:0]
		for rank := range size {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	var b strings.Builder
	b.WriteString(`<div style="display:flex;flex-wrap:wrap;gap:6px;margin:6px 0">`)
	for _, rank := range ranks {
		border := "1px dashed #888888"
		if len(does[rank]) > 0 {
			border = "2px solid #888888"
		}
		fmt.Fprintf(&b, `<div style="border:%s;border-radius:4px;padding:2px 8px">rank %d%s</div>`, border, rank,
			strings.Join(does[rank], ""))
	}
	b.WriteString("</div>")
	return b.String()
}

// sourceOf returns the line of an access with its number, and the word at the access marked.
func sourceOf(a session.Access) string {
	line, at := locate(a.Source, a.Column)
	if line == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(pre)
	if a.Line > 0 {
		fmt.Fprintf(&b, "%4d │ ", a.Line)
	}
	escaped := func(text string) string { return html.EscapeString(Plain(text)) }
	if at < 0 || at == len(line) {
		b.WriteString(escaped(line))
	} else {
		_, first := utf8.DecodeRuneInString(line[at:])
		end := at + max(len(word(line[at:])), first)
		b.WriteString(escaped(line[:at]) + "<mark>" + escaped(line[at:end]) + "</mark>" + escaped(line[end:]))
	}
	return b.String() + "</pre>"
}
