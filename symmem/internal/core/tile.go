package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Tile is a rectangle of a tensor of two dimensions. It shares the tensor's memory.
type Tile struct{ at Rectangle }

// Rectangle is the view of a Tile that operators have.
type Rectangle struct {
	Tensor               *Tensor
	Row, Col, Rows, Cols int
}

// RectangleOf returns the rectangle of a tile. It panics if the tile is nil.
func RectangleOf(l *Tile) *Rectangle {
	if l == nil || l.at.Tensor == nil {
		panic(nilArgument("Tile", "tile"))
	}
	return &l.at
}

// First is the elements of the tensor before the tile.
func (r *Rectangle) First() int { return r.Row*r.Tensor.shape[1] + r.Col }

// Addr returns the address of the tile's first element on the device.
func (r *Rectangle) Addr() device.Ptr {
	return r.Tensor.pointer() + device.Ptr(r.First()*r.Tensor.dtype.Size())
}

// Like reports whether two tiles have the same type and shape.
func (r *Rectangle) Like(o *Rectangle) bool {
	return r.Tensor.dtype == o.Tensor.dtype && r.Rows == o.Rows && r.Cols == o.Cols
}

// Tile is rows [r0, r1) and columns [c0, c1) of a tensor of two dimensions, as t[r0:r1, c0:c1] is
// in PyTorch.
func (t *Tensor) Tile(r0, r1, c0, c1 int) *Tile {
	const op = "Tile"
	t.usable(op)
	if len(t.shape) != 2 {
		panic(t.rt.misuse(op, "", "View it with two", "a tile is of a tensor of two dimensions, not of %v", t.kind()))
	}
	if r0 < 0 || r1 < r0 || r1 > t.shape[0] || c0 < 0 || c1 < c0 || c1 > t.shape[1] {
		panic(t.rt.misuse(op, "bounds", "", "[%d:%d, %d:%d] is not within %v", r0, r1, c0, c1, t.kind()))
	}
	return &Tile{Rectangle{Tensor: t, Row: r0, Col: c0, Rows: r1 - r0, Cols: c1 - c0}}
}

// Shape is the number of rows and of columns.
func (l *Tile) Shape() []int {
	at := RectangleOf(l)
	return []int{at.Rows, at.Cols}
}

// String is "f32[2, 2] at [1, 1]".
func (l *Tile) String() string {
	if l == nil || l.at.Tensor == nil {
		return "nil tile"
	}
	return fmt.Sprintf("%s at [%d, %d]", l.at.Tensor.dtype.element().Shaped(l.Shape()), l.at.Row, l.at.Col)
}
