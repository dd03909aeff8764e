package command

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/text"

	"github.com/symmrepl/symmrepl/internal/picture"
)

// picture draws the ranks in a circle, and a line for each link, its colour by kind.
func (l *links) picture() picture.Picture {
	const radius, node, size, row = 110.0, 20.0, 280.0, 20.0
	kinds := l.kinds()
	at := func(i int) (x, y float64) {
		angle := 2*math.Pi*float64(i)/float64(len(l.ranks)) - math.Pi/2
		return size/2 + radius*math.Cos(angle), size/2 + radius*math.Sin(angle)
	}
	return inPixels(size, size+row*float64(len(kinds)), func(c *picture.Canvas) {
		for i := range l.ranks {
			for j := i + 1; j < len(l.ranks); j++ {
				if kind := slices.Index(kinds, l.names[i][j]); kind >= 0 {
					x1, y1 := at(i)
					x2, y2 := at(j)
					c.Line(x1, y1, x2, y2, colour(kind))
				}
			}
		}
		for i, r := range l.ranks {
			x, y := at(i)
			c.Disc(x, y, node, "#eeeeee")
			c.Words(x, y+4, text.XCenter, strconv.Itoa(r))
		}
		for i, kind := range kinds {
			y := size + row*float64(i)
			c.Box(10, y, 14, 4, colour(i))
			c.Note(30, y+6, text.XLeft, kind)
		}
	})
}
