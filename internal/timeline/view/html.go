package view

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/internal/timeline"
)

// script makes pictures of all timelines of a page that it has not seen yet.
//
//go:embed timeline.js
var script string

// HTML shows a timeline in a notebook: an interactive picture in place of the still one, and the
// summary as tables. It is "" if nothing ran.
func HTML(t *timeline.Timeline) string {
	if len(t.Ranks) == 0 || t.Took == 0 {
		return ""
	}
	sc := sceneOf(t)
	data, err := json.Marshal(sc.data()) // as in all of encoding/json, <, > and & are escaped
	if err != nil {
		panic(fmt.Errorf("view: %w", err)) // it has only strings and numbers
	}
	still := base64.StdEncoding.EncodeToString([]byte(sc.svg(Light)))
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="symm-timeline"><img alt="%s" src="data:image/svg+xml;base64,%s"><script type="application/json">%s</script></div>`+"\n",
		html.EscapeString(fmt.Sprintf("timeline of %s, %s", count.Of(sc.ranks, "rank"), timeline.Short(sc.took))), still, data)
	b.WriteString(tables(t))
	fmt.Fprintf(&b, "<script>\n%s</script>", script)
	return b.String()
}

// drawing is a scene as the script reads it. Strings are numbers of Texts.
type drawing struct {
	Took    int64    `json:"took"`
	Ranks   int      `json:"ranks"`
	Waits   string   `json:"waits"`
	Colours []string `json:"colours"`
	Names   int      `json:"names"` // the first of Texts, which have colours in turn
	Texts   []string `json:"texts"`
	More    int      `json:"more"`
	Rows    [][4]int `json:"rows"`   // label, whether it is the first of its rank, lanes, whether there are parts
	Marks   [][9]int `json:"marks"`  // row, lane, shape, begin, took, name, kind, detail, line
	Arrows  [][3]int `json:"arrows"` // marks, and whether it is likely only
}

func (sc *scene) data() drawing {
	d := drawing{Took: sc.took, Ranks: sc.ranks, Waits: waits, Colours: colours, Names: len(sc.names),
		Texts: append([]string{}, sc.names...), More: sc.more,
		Rows: [][4]int{}, Marks: [][9]int{}, Arrows: [][3]int{}}
	numbers := sc.numbers()
	text := func(s string) int {
		n, known := numbers[s]
		if !known {
			n = len(d.Texts)
			numbers[s] = n
			d.Texts = append(d.Texts, s)
		}
		return n
	}
	bit := map[bool]int{true: 1}
	for _, r := range sc.rows {
		d.Rows = append(d.Rows, [4]int{text(r.label), bit[r.first], r.lanes, bit[r.parts]})
	}
	for _, m := range sc.marks {
		d.Marks = append(d.Marks, [9]int{m.row, m.lane, int(m.shape), int(m.begin), int(m.took), text(m.name),
			text(string(m.kind)), text(m.detail), text(m.at)})
	}
	for _, a := range sc.arrows {
		d.Arrows = append(d.Arrows, [3]int{a.from, a.to, bit[a.likely]})
	}
	return d
}
