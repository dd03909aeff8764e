package command

import (
	"encoding/base64"

	"github.com/symmrepl/symmrepl/internal/picture"
)

// colours distinguish kinds of links, and operations.
var colours = [...]string{"#2a9d4a", "#3a6ea5", "#d08a1d", "#b5406b", "#7a5fb0", "#777777"}

// colour returns the colour of kind i. Colours repeat when they are used up.
func colour(i int) string { return colours[i%len(colours)] }

// inPixels returns a picture whose size is in pixels.
func inPixels(width, height float64, draw func(*picture.Canvas)) picture.Picture {
	return picture.Picture{Width: picture.Pixels(width), Height: picture.Pixels(height), Draw: draw}
}

// forms returns a picture in the forms of a cell's value.
func forms(p picture.Picture) map[string]any {
	return map[string]any{"image/svg+xml": p.SVG(), "image/png": base64.StdEncoding.EncodeToString(p.ClearPNG())}
}
