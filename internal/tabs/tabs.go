// Package tabs lays out HTML as tabs, of which one is open.
//
// A tab is a details element: where a page keeps style sheets, as a trusted notebook and a page of
// nbconvert do, a row of tabs stands above the open one. Where a page removes them, as a notebook
// that is not trusted does, the same elements are a list in which several can be open. No script
// and no extension is needed, and the keyboard reaches every tab.
package tabs

import (
	"fmt"
	"hash/fnv"
	"html"
	"strings"
)

// Tab is one of several tabs.
type Tab struct {
	Label  string // text
	HTML   string
	Failed bool // the tab is red
	Open   bool
}

// group is the name of the tabs of which one is open, until Name replaces it. The names of a page
// must differ.
const group = `name="symm-tabs"`

// Style is the style sheet of tabs and of their contents. It uses the colours of JupyterLab's
// theme, or else colours for both light and dark pages.
const Style = `<style>
.symm-tabs{margin:2px 0}
.symm-tabs>details>summary{cursor:pointer}
.symm-tabs>details>summary.symm-failed{color:var(--jp-error-color1,#d9534f)}
@supports selector(::details-content){
.symm-tabs{display:flex;flex-wrap:wrap}
.symm-tabs>details{display:contents}
.symm-tabs>details>summary{display:block;padding:3px 10px;margin:0;border-bottom:2px solid transparent;color:var(--jp-ui-font-color2,inherit)}
.symm-tabs>details>summary:hover{background:var(--jp-layout-color2,rgba(128,128,128,.2))}
.symm-tabs>details[open]>summary{border-bottom-color:var(--jp-brand-color1,#1976d2);color:var(--jp-ui-font-color1,inherit);pointer-events:none}
.symm-tabs>details>summary.symm-failed,.symm-tabs>details[open]>summary.symm-failed{color:var(--jp-error-color1,#d9534f)}
.symm-tabs>details[open]>summary.symm-failed{border-bottom-color:var(--jp-error-color1,#d9534f)}
.symm-tabs>details::details-content{order:1;flex:0 0 100%;min-width:0;box-sizing:border-box;border-top:1px solid var(--jp-border-color2,rgba(128,128,128,.4));margin-top:-1px;padding:6px 0;overflow-x:auto}
.symm-tabs>details:not([open])::details-content{display:none}
@media print{.symm-tabs,.symm-tabs>details{display:block}.symm-tabs>details::details-content,.symm-tabs>details:not([open])::details-content{display:block;content-visibility:visible;height:auto}}
}
</style>`

// HTML returns tabs. The first is open if none says that it is.
func HTML(tabs []Tab) string {
	open := 0
	for i, t := range tabs {
		if t.Open {
			open = i
			break
		}
	}
	var b strings.Builder
	b.WriteString(Style + `<div class="symm-tabs">`)
	for i, t := range tabs {
		attribute, class := "", ""
		if i == open {
			attribute = ` open=""` // with a value, because euporie drops attributes without one
		}
		if t.Failed {
			class = ` class="symm-failed"`
		}
		fmt.Fprintf(&b, `<details %s%s><summary%s>%s</summary>%s</details>`, group, attribute, class, html.EscapeString(t.Label),
			strings.ReplaceAll(t.HTML, Style, ""))
	}
	b.WriteString("</div>")
	return b.String()
}

// Name gives the tabs in a piece of HTML names of their own: the tabs of one group have the same
// name. They depend on the HTML and on id, which tells apart outputs that are equal.
func Name(piece, id string) string {
	if !strings.Contains(piece, group) {
		return piece
	}
	sum := fnv.New32a()
	sum.Write([]byte(id + piece))
	var b strings.Builder
	var open []int // the groups around the present place
	groups := 0
	for piece != "" {
		next, kind := len(piece), ""
		for _, tag := range []string{`<div class="symm-tabs">`, `<div`, `</div>`, group} {
			if at := strings.Index(piece, tag); at >= 0 && at < next {
				next, kind = at, tag
			}
		}
		b.WriteString(piece[:next])
		piece = piece[next:]
		switch kind {
		case `<div class="symm-tabs">`:
			groups++
			open = append(open, groups)
		case `<div`:
			open = append(open, 0)
		case `</div>`:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case group:
			of := 0
			for _, g := range open {
				if g > 0 {
					of = g
				}
			}
			fmt.Fprintf(&b, `name="symm-%08x-%d"`, sum.Sum32(), of)
			piece = piece[len(group):]
			continue
		}
		b.WriteString(piece[:len(kind)])
		piece = piece[len(kind):]
	}
	return b.String()
}
