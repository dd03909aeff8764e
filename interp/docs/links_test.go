package docs

import (
	"regexp"
	"strings"
	"testing"
)

// Nothing that is shown of symmem refers to what cannot be seen, and a function has the text of the
// method that does its work.
func TestLinks(t *testing.T) {
	method := regexp.MustCompile(`Runtime\.[A-Z]`)
	p := open(symmem)
	for _, e := range p.Entries {
		if found := link.FindString(e.Text); found != "" || method.MatchString(e.Text) && !strings.Contains(e.Decl, "Runtime") {
			t.Errorf("%s\n%s\nrefers to %q", e.Decl, e.Text, found)
		}
	}
	if found := link.FindString(p.Text); found != "" {
		t.Errorf("the package's text refers to %s", found)
	}
	forwards := 0
	for name, i := range p.Names {
		method, ok := p.Names["Runtime."+name]
		if !ok || strings.Contains(name, ".") {
			continue
		}
		forwards++
		if own := p.Entries[i].Text; len(own) < len(p.Entries[method].Text) && strings.Contains(own, "see") {
			t.Errorf("%s says %q, its method %q", name, own, p.Entries[method].Text)
		}
	}
	if forwards < 40 {
		t.Errorf("%d functions have the name of a method of Runtime", forwards)
	}
	if _, text, _ := Lookup(symmem, "AllReduce"); !strings.Contains(text, "Shapes: t is symmetric, or a part") || strings.Contains(text, "see [") {
		t.Errorf("AllReduce says %q", text)
	}
}
