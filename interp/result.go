package interp

import (
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/internal/layout"
	"github.com/symmrepl/symmrepl/session"
)

// result prints the value of the cell's last expression.
func (in *Interp) result(c *compiled) session.Result {
	pointers, described, forms, shown := in.runtime.take()
	if !shown {
		return session.Result{}
	}
	if len(c.values) == 1 && len(pointers) == 0 {
		return session.Result{Value: "nil", HasValue: true}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var texts []string
	for i, p := range pointers {
		if text, ok := described[i]; ok {
			texts = append(texts, shorten(text))
			continue
		}
		texts = append(texts, layout.Break(in.print(p.Elem(), c.values[i])))
	}
	return session.Result{Value: strings.Join(texts, ", "), HasValue: true, Data: forms.Data, Metadata: forms.Metadata}
}

// dynamicText writes a value of which only its contents are known.
func (in *Interp) dynamicText(v reflect.Value) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.printed(func(p *printer) { p.dynamic(v, 0) })
}
