package interp

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgsvg" // draws SVG

	"github.com/symmrepl/symmrepl/display"
)

// The last value of a cell is shown in the forms that it says it has: see package display.

// renders reports whether a value of type t may say how it is shown: it has a method for that, or what it holds may.
func (l *lowerer) renders(t types.Type) bool {
	if types.IsInterface(t) {
		return true
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == displayPath {
		return true
	}
	methods := types.NewMethodSet(t)
	for _, name := range []string{
		"Render", "SimpleRender", "HTML", "JavaScript", "JPEG", "JSON", "Latex", "Markdown", "PDF", "PNG", "SVG", "ColorModel", "WriterTo",
	} {
		if methods.Lookup(l.in.pkg, name) != nil {
			return true
		}
	}
	return false
}

// render takes the forms in which the cell's value is shown: of several that which is not nil, such as a picture with no error. Their text, if they
// have one, is the value's.
func (rt *cellRuntime) render(values ...any) {
	at := slices.IndexFunc(values, func(x any) bool { return x != nil })
	if at < 0 || slices.ContainsFunc(values[at+1:], func(x any) bool { return x != nil }) {
		return
	}
	d, ok := display.Render(values[at])
	if p, is := values[at].(*plot.Plot); is && p != nil {
		d, ok = picture(p), true
	}
	if !ok {
		return
	}
	forms := map[string]any{}
	for mimeType, form := range d.Data {
		forms[mimeType] = form
	}
	text, isText := forms[display.MIMETypeText].(string)
	delete(forms, display.MIMETypeText)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if isText {
		if rt.texts == nil {
			rt.texts = map[int]string{}
		}
		rt.texts[at] = text
	}
	if len(forms) > 0 {
		rt.forms = display.Data{Data: forms, Metadata: d.Metadata}
	}
}

// picture shows a plot of gonum's, which does not say how it is shown, in the size of those of package chart. Its text stays.
func picture(p *plot.Plot) display.Data {
	drawn, err := p.WriterTo(5*vg.Inch, 3*vg.Inch, "svg")
	var b strings.Builder
	if err == nil {
		_, err = drawn.WriteTo(&b)
	}
	if err != nil {
		panic(fmt.Errorf("the plot cannot be drawn: %w", err))
	}
	return display.Data{Data: display.MIMEMap{display.MIMETypeSVG: b.String()}}
}
