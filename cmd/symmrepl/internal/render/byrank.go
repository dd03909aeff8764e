package render

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/forms"
	"github.com/symmrepl/symmrepl/internal/tabs"
	"github.com/symmrepl/symmrepl/session"
)

// ByRank returns different values and errors of ranks as one piece of HTML: a tab for each of them,
// named by its ranks and red for an error, and a tab with the differences between the values, or
// between the errors if there are not two values, where these can be told.
// The first error is open, or else the first value. The errors are those of Alike. ByRank returns
// "" for fewer than two tabs, or if HTML can show none of the forms of a value.
func ByRank(values []session.Value, errs []*session.Error) string {
	groups := groupsOf(values, errs)
	if len(groups) < 2 {
		return ""
	}
	var list []tabs.Tab
	for _, g := range groups {
		if g.html == "" {
			return ""
		}
		t := tabs.Tab{Label: RankLabel(g.ranks), HTML: g.html}
		if g.failed {
			t.Label, t.Failed, t.Open = "✗ "+t.Label, true, true
		}
		list = append(list, t)
	}
	if d := differences(alikes(groups)); d != "" {
		list = append(list, tabs.Tab{Label: "differences", HTML: d})
	}
	return tabs.HTML(list)
}

// HasTabs reports whether ByRank shows these values.
func HasTabs(values []session.Value) bool {
	return len(values) > 1 && !slices.ContainsFunc(values, func(v session.Value) bool { return asHTML(v) == "" })
}

// alikes returns the groups that can be compared: the values, or else the errors.
func alikes(groups []group) []group {
	failed := slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !g.failed })
	if values := len(groups) - len(failed); values > 1 {
		return slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return g.failed })
	}
	return failed
}

// group is a value as some ranks show it.
type group struct {
	ranks  []int
	html   string
	text   string // "" if it does not stand for all of the value
	data   map[string]any
	failed bool
}

// groupsOf returns values and errors in the order of their ranks.
func groupsOf(values []session.Value, errs []*session.Error) []group {
	var groups []group
	for _, v := range values {
		g := group{ranks: v.Ranks, html: asHTML(v), data: v.Data}
		if len(richForms(v)) == 0 {
			g.text = v.Text
		}
		groups = append(groups, g)
	}
	for _, e := range errs {
		text := errorText(e)
		head, rest, _ := strings.Cut(text, "\n")
		groups = append(groups, group{ranks: e.Ranks,
			html: preformatted("<b>" + html.EscapeString(head) + "</b>\n" + html.EscapeString(rest)), text: text, failed: true})
	}
	slices.SortStableFunc(groups, func(a, b group) int { return slices.Compare(a.ranks, b.ranks) })
	return groups
}

// errorText returns an error without its ranks, which its tab names.
func errorText(e *session.Error) string {
	var b strings.Builder
	New(&b, &b, 1, false).Error(e)
	return strings.TrimSuffix(b.String(), "\n")
}

// pre begins text in the font of code, which pages of nbconvert do not set, on the ground of its table.
const pre = `<pre style="font-family:var(--jp-code-font-family,monospace);background:transparent">`

// Preformatted returns text as HTML that shows it in the font of code.
func Preformatted(text string) string { return preformatted(html.EscapeString(Plain(text))) }

func preformatted(html string) string { return pre + strings.TrimRight(html, "\n") + "</pre>" }

// richForms returns the forms of a value that notebooks show besides its text.
func richForms(v session.Value) map[string]any {
	data := forms.Shown(v.Data)
	delete(data, "text/plain")
	return data
}

// asHTML returns the first form of a value that HTML can show. Notebooks that are not trusted show
// no SVG in HTML.
func asHTML(v session.Value) string {
	data := richForms(v)
	for _, mimeType := range []string{"text/html", "image/png", "image/jpeg", "image/svg+xml"} {
		text, ok := data[mimeType].(string)
		switch {
		case !ok:
		case mimeType == "image/png" || mimeType == "image/jpeg":
			return fmt.Sprintf(`<img src="data:%s;base64,%s">`, mimeType, html.EscapeString(text))
		default:
			return text
		}
	}
	if len(data) > 0 {
		return ""
	}
	return Preformatted(v.Text)
}

// RankLabel names ranks in a title: "rank 2", "ranks 0-3".
func RankLabel(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + session.FormatRanks(ranks)
}
