package docs

import (
	"regexp"
	"strings"
)

// symmem is the package whose functions call the methods of its Runtime. Cells do not see Runtime,
// but its methods have the documentation.
const symmem = "github.com/symmrepl/symmrepl/symmem"

var (
	link    = regexp.MustCompile(`\[([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	forward = regexp.MustCompile(`(?s)^[^.]*: see\s+\[(Runtime\.\w+)\]\.`)
)

// resolve copies the documentation of Runtime's methods to functions that refer to them, and
// replaces links by the names of their targets, because the text is shown where links do not work.
func (p *Package) resolve() {
	text := make([]string, len(p.Entries))
	for i, e := range p.Entries {
		text[i] = e.Text
		if m := forward.FindStringSubmatch(e.Text); m != nil {
			if method, ok := p.Names[m[1]]; ok {
				text[i] = p.Entries[method].Text + e.Text[len(m[0]):]
			}
		}
	}
	for i := range p.Entries {
		p.Entries[i].Text = p.withoutLinks(text[i])
	}
	p.Text = p.withoutLinks(p.Text)
}

// withoutLinks replaces links by the names of their targets, and methods of Runtime by the
// functions of the same name.
func (p *Package) withoutLinks(text string) string {
	return link.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "[]")
		if _, ok := p.Names[name]; !ok {
			return found
		}
		if function, ok := strings.CutPrefix(name, "Runtime."); ok {
			if _, ok := p.Names[function]; ok {
				return function
			}
		}
		return name
	})
}
