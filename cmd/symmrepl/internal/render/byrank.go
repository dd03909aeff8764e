package render

import (
	"fmt"
	"html"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// ByRank returns different values of ranks as one piece of HTML, with a tab for each value that
// names its ranks. The first is open; several can be open, to compare ranks. It returns "" for
// fewer than two values, or if HTML can show none of the forms of one. It uses no script or style
// sheet, because notebooks remove these when they are opened again.
func ByRank(values []session.Value) string {
	if len(values) < 2 {
		return ""
	}
	var b strings.Builder
	for i, v := range values {
		body := asHTML(v)
		if body == "" {
			return ""
		}
		open := ""
		if i == 0 {
			open = " open"
		}
		fmt.Fprintf(&b, `<details%s><summary>%s</summary>%s</details>`, open, html.EscapeString(rankLabel(v.Ranks)), body)
	}
	return b.String()
}

// asHTML returns the first form of a value that HTML can show. Notebooks that are not trusted show
// no SVG in HTML.
func asHTML(v session.Value) string {
	for _, mimeType := range []string{"text/html", "image/png", "image/jpeg", "image/svg+xml"} {
		text, ok := v.Data[mimeType].(string)
		switch {
		case !ok:
		case mimeType == "image/png" || mimeType == "image/jpeg":
			return fmt.Sprintf(`<img src="data:%s;base64,%s">`, mimeType, text)
		default:
			return text
		}
	}
	if len(v.Data) > 0 {
		return ""
	}
	return "<pre>" + html.EscapeString(v.Text) + "</pre>"
}

func rankLabel(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + session.FormatRanks(ranks)
}
