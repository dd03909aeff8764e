package docs

import (
	"regexp"
	"strings"
)

// symmem is the package whose functions act by the methods of its Runtime, which cells do not see. Their documentation is there.
const symmem = "github.com/symmrepl/symmrepl/symmem"

var (
	link    = regexp.MustCompile(`\[([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	forward = regexp.MustCompile(`(?s)^[^.]*: see\s+\[(Runtime\.\w+)\]\.`)
)

// resolve puts the text of methods of Runtime in place of references to it, and what links lead to in place of the links: text is read
// where nothing can be followed.
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

// withoutLinks replaces links by the names that they lead to, methods of Runtime by the functions of the same name.
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
