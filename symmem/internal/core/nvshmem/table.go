package nvshmem

import (
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Variable is the variable of a module that holds the address of its ShmemWorld.
const Variable = "symm_shmem"

// Size is the bytes of device memory of a Table.
const Size = windowsAt + abi.ShmemWindows*int(unsafe.Sizeof(abi.ShmemWindow{})) + 2*abi.ShmemChunk

const (
	chunksAt  = (int(unsafe.Sizeof(abi.ShmemWorld{})) + 255) &^ 255
	windowsAt = chunksAt + 2*abi.ShmemChunk
)

// Table is an abi.ShmemWorld with its windows, in device memory that begins with zeros. Kernels may
// read it while it changes: entries of tensors that they use stay as they are.
type Table struct {
	seam.Idle[seam.Members, seam.Memory]
	At      device.Ptr
	world   abi.ShmemWorld
	windows []abi.ShmemWindow
}

// Keep makes the table describe a world and its tensors. poke stores a word of device memory at
// once. It returns false, and does nothing, if there are too many tensors.
func (t *Table) Keep(world abi.ShmemWorld, tensors []abi.ShmemWindow, poke func(device.Ptr, uint32) error) (bool, error) {
	if len(tensors) > abi.ShmemWindows {
		return false, nil
	}
	kept := map[abi.ShmemWindow]bool{}
	for _, w := range tensors {
		kept[w] = false
	}
	var unused []int
	for i := range t.windows {
		w := t.windows[i]
		if _, wanted := kept[w]; wanted {
			kept[w] = true
			continue
		}
		if w.Bytes != 0 {
			w.Bytes = 0
			if err := t.put(i, w, poke); err != nil {
				return true, err
			}
		}
		unused = append(unused, i)
	}
	for _, w := range tensors {
		if kept[w] {
			continue
		}
		kept[w] = true
		i := len(t.windows)
		if len(unused) > 0 {
			i, unused = unused[0], unused[1:]
		} else {
			t.windows = append(t.windows, abi.ShmemWindow{})
		}
		empty := w
		empty.Bytes = 0
		if err := t.put(i, empty, poke); err != nil {
			return true, err
		}
		if err := t.put(i, w, poke); err != nil {
			return true, err
		}
	}
	world.Count = uint32(len(t.windows))
	world.Chunks, world.Windows = t.At+device.Ptr(chunksAt), t.At+device.Ptr(windowsAt)
	if err := pokeChanges(t.At, launch.Bytes(&t.world), launch.Bytes(&world), poke); err != nil {
		return true, err
	}
	t.world = world
	return true, nil
}

func (t *Table) put(i int, w abi.ShmemWindow, poke func(device.Ptr, uint32) error) error {
	at := t.At + device.Ptr(windowsAt+i*int(unsafe.Sizeof(w)))
	err := pokeChanges(at, launch.Bytes(&t.windows[i]), launch.Bytes(&w), poke)
	t.windows[i] = w
	return err
}

// pokeChanges stores the words of to that differ from those of from.
func pokeChanges(at device.Ptr, from, to []byte, poke func(device.Ptr, uint32) error) error {
	words := func(b []byte) []uint32 { return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4) }
	old := words(from)
	for i, w := range words(to) {
		if w != old[i] {
			if err := poke(at+device.Ptr(4*i), w); err != nil {
				return err
			}
		}
	}
	return nil
}

// Launch is the words of the world that belong to one launch: the call, and the deadline of its
// waits, rounded up to whole units.
func Launch(c *abi.Context) [2]uint32 {
	return [2]uint32{c.Ordinal, uint32(min((c.TimeoutNs+1<<20-1)>>20, 1<<32-1))}
}

// Clear implements seam.Part.
func (t *Table) Clear(s device.Stream) error {
	if t.At == 0 {
		return nil
	}
	return s.Set(t.At+device.Ptr(unsafe.Offsetof(t.world.Claimed)), 0, int(unsafe.Sizeof(t.world.Claimed)))
}
