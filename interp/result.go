package interp

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/session"
)

// result prints the value of the cell's last expression. The methods by which values of cells
// describe themselves run as code of the cell, so the caller is the goroutine that runs it.
func (in *Interp) result(c *compiled) session.Result {
	shown, ok := in.runtime.Shown.Take()
	if !ok {
		return session.Result{}
	}
	if len(c.Values) == 1 && len(shown.Pointers) == 0 {
		return session.Result{Value: "nil", HasValue: true}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var texts []string
	for i, p := range shown.Pointers {
		if text, ok := shown.Texts[i]; ok {
			texts = append(texts, values.Shorten(text))
			continue
		}
		texts = append(texts, in.print(p.Elem(), c.Values[i]).Break(cmp.Or(c.columns, values.Width)))
	}
	return session.Result{Value: strings.Join(texts, ", "), HasValue: true, Data: shown.Forms.Data, Metadata: shown.Forms.Metadata}
}

// dynamicText prints a value of unknown type.
func (in *Interp) dynamicText(v reflect.Value) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	vt := valueTypes{in: in}
	return in.printed(vt, func(p *printer) { vt.Dynamic(p, v, 0) }).Text
}
