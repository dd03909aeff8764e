package clib

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
	"unsafe"
)

// TestStringsInUsedMemory makes lists in C memory that held addresses of freed Go memory, while the
// garbage collector marks. The collector would end the process if it saw one of these addresses.
func TestStringsInUsedMemory(t *testing.T) {
	const n = 64
	freed := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(make([]byte, 8<<20))))) + 4<<20
	used := string(bytes.Repeat(binary.NativeEndian.AppendUint64(nil, freed), n))
	end := make(chan bool)
	defer close(end)
	go func() {
		for {
			select {
			case <-end:
				return
			default:
				runtime.GC()
			}
		}
	}()
	list := slices.Repeat([]string{"text"}, n)
	for range 20000 {
		var before, a arena
		before.string(used[:8*n-1]) // as many bytes as the list
		before.free()
		a.strings(list)
		a.free()
	}
}
