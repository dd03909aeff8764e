package tensorfile

import "unsafe"

// within reports whether an address is in a mapping.
func within(at uintptr, mapping []byte) bool {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(mapping)))
	return at >= first && at < first+uintptr(len(mapping))
}
