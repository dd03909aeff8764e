package contract

import (
	"go/token"
	"go/types"
	"sync/atomic"
)

// Point is a statement before which a goroutine can stand.
type Point struct {
	ID        int
	Pos       token.Pos
	Variables []PointVariable // local variables that are visible there, the innermost first

	breaks atomic.Bool // it has a breakpoint
}

// PointVariable is a local variable.
type PointVariable struct {
	Name string
	Type types.Type
}

// Break sets or removes the point's breakpoint. Runtime.Arm makes it effective.
func (p *Point) Break(on bool) { p.breaks.Store(on) }

// Breaks reports whether the point has a breakpoint.
func (p *Point) Breaks() bool { return p.breaks.Load() }
