package seam

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// Memory is symmetric memory of a group, as a part of the world that has a package of its own knows it.
type Memory interface {
	ID() string // equal on all members and never used again
	Segment() device.Segment
	Stale() bool // parts of other members are lost
}
