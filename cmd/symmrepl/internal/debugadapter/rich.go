package debugadapter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/internal/heat"
	"github.com/symmrepl/symmrepl/internal/tabs"
	"github.com/symmrepl/symmrepl/session"
)

const (
	typeHTML = "text/html"
	typeSVG  = "image/svg+xml"
)

// rich returns a variable as a notebook shows it, by MIME type: as text, as HTML with a tab for
// each group of ranks that have it equal, and, of a tensor, with a heat map. A row that is no
// variable has no forms.
func (a *Adapter) rich(ctx context.Context, v richVariable) (body, error) {
	nothing := body{"data": body{}, "metadata": body{}}
	if !isName(v.Name) {
		return nothing, nil
	}
	values, err := a.valueOf(ctx, v.Frame, v.Name)
	if err != nil {
		if errors.Is(err, errBusy) {
			return nil, err
		}
		return nothing, nil
	}
	maps, err := a.valueOf(ctx, v.Frame, "chart.Heat("+v.Name+")")
	if err == nil {
		values = withMaps(values, maps)
	}
	data, metadata := notebook.Bundle(values, a.console.Size)
	if page, ok := data[typeHTML].(string); ok {
		data[typeHTML] = tabs.Name(page, fmt.Sprint(v.Frame, " ", v.Name))
	}
	if err == nil && len(maps) > 0 {
		if svg, ok := maps[0].Data[typeSVG].(string); ok {
			data[typeSVG] = svg
		}
	}
	for kind := range metadata {
		if _, ok := data[kind]; !ok {
			delete(metadata, kind)
		}
	}
	return body{"data": data, "metadata": metadata}, nil
}

// valueOf returns an expression's values on all ranks, in a frame (0: of no cell).
func (a *Adapter) valueOf(ctx context.Context, number int, expression string) ([]session.Value, error) {
	if len(a.standing()) == 0 {
		reply, err := a.cell(ctx, session.Cell{Source: expression, Name: "variables", Silent: true})
		return reply.Values, err
	}
	index := 0
	if number != 0 {
		f, err := a.findFrame(number)
		if err != nil {
			return nil, err
		}
		index = max(f.index, 0)
	}
	reply, err := a.evaluateIn(ctx, nil, index, expression)
	return reply.Values, err
}

// withMaps gives the HTML of values heat maps with axes, in place of small ones. Both are folded by
// rank.
func withMaps(values, maps []session.Value) []session.Value {
	var out []session.Value
	for _, v := range values {
		html, ok := v.Data[typeHTML].(string)
		if !ok {
			out = append(out, v)
			continue
		}
		for _, m := range maps {
			if svg, ok := m.Data[typeSVG].(string); ok && sharesRank(v.Ranks, m.Ranks) {
				html = heat.Without(html) + "<div>" + withoutProlog(svg) + "</div>"
				break
			}
		}
		data := body{}
		for kind, form := range v.Data {
			data[kind] = form
		}
		data[typeHTML] = html
		out = append(out, session.Value{Ranks: v.Ranks, Text: v.Text, Data: data, Metadata: v.Metadata})
	}
	return out
}

func sharesRank(a, b []int) bool {
	for _, r := range a {
		for _, s := range b {
			if r == s {
				return true
			}
		}
	}
	return false
}

// withoutProlog returns the element svg of a picture.
func withoutProlog(svg string) string {
	if i := strings.Index(svg, "<svg"); i > 0 {
		return svg[i:]
	}
	return svg
}
