//go:build !go1.27

//lint:file-ignore U1000 the fields are those of the runtime

package named

import "unsafe"

// mapType is the descriptor of a map.
type mapType struct {
	header
	key, elem, group             *header
	hasher                       func(unsafe.Pointer, uintptr) uintptr
	groupSize, slotSize, elemOff uintptr
	flags                        uint32
}
