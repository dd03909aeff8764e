package drawing

import (
	"fmt"
	"maps"
	"slices"
)

// drawn is a picture's size and the function that draws it.
type drawn struct {
	width, height float64
	draw          func(*sheet)
}

// pictures are all pictures by name.
var pictures = map[string]drawn{
	"ranks":        {580, 150, ranks},
	"ring":         {440, 110, ring},
	"memory":       {560, 210, memory},
	"slots":        {520, 190, slots},
	"signal":       {480, 170, signalled},
	"both-ways":    {480, 230, bothWays},
	"pieces":       {480, 230, pieces},
	"one-shot":     {520, 200, oneShot},
	"two-shot":     {560, 190, twoShot},
	"zones":        {580, 126, zones},
	"circle":       {320, 230, circle},
	"trips":        {560, 220, trips},
	"packet":       {440, 80, packet},
	"tokens":       {600, 200, tokens},
	"overlap":      {560, 150, overlap},
	"streams":      {640, 120, streams},
	"ahead":        {560, 136, ahead},
	"launches":     {560, 190, launches},
	"teams":        {480, 230, teams},
	"roofline":     {520, 220, roofline},
	"hierarchical": {620, 260, hierarchical},
	"reach":        {560, 210, reach},
	"layer":        {560, 200, layer},
	"race":         {560, 200, race},
	"border":       {560, 190, border},
}

// SVG returns the picture of a name.
func SVG(name string) (string, error) {
	d, known := pictures[name]
	if !known {
		return "", fmt.Errorf("there is no picture %q; there are %q", name, Names())
	}
	s := &sheet{width: d.width, height: d.height}
	d.draw(s)
	return s.String(), nil
}

// Names lists the pictures.
func Names() []string { return slices.Sorted(maps.Keys(pictures)) }
