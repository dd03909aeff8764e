package symmemtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem"
)

// Where a test's program puts the parts of its memory.
const (
	lentSize, lentPad, lentData, lentBytes = 8192, 256, 4096, 64
	lentWord                               = 12 // a word of the pad
)

// lentMemory makes the memory of a program: 16 numbers in it count from 0 on, and a word of the pad is 1.
func lentMemory(t *testing.T, seals int) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("lent", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "lent")
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(lentSize); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		f.WriteAt(binary.LittleEndian.AppendUint32(nil, uint32(i)), int64(lentData+4*i))
	}
	f.WriteAt([]byte{1, 0, 0, 0}, 4*lentWord)
	return f
}

func lentWordAt(t *testing.T, f *os.File, at int) int {
	t.Helper()
	b := make([]byte, 4)
	if _, err := f.ReadAt(b, int64(at)); err != nil {
		t.Fatal(err)
	}
	return int(binary.LittleEndian.Uint32(b))
}

// TestLent views the memory of another program.
func TestLent(t *testing.T) {
	sealed := lentMemory(t, unix.F_SEAL_SHRINK)
	other := lentMemory(t, 0)
	whole := symmem.Lent{Size: lentSize, Pad: lentPad, Data: lentData, Bytes: lentBytes, DType: symmem.I32, Shape: []int{4, 4}}
	change := func(do func(l *symmem.Lent)) symmem.Lent {
		l := whole
		do(&l)
		return l
	}
	lent := map[string]symmem.Lent{
		"t": whole, "row": change(func(l *symmem.Lent) { l.Offset, l.Shape = 16, []int{4} }),
		"empty":     change(func(l *symmem.Lent) { l.Shape = []int{0, 7} }),
		"large":     change(func(l *symmem.Lent) { l.Shape = []int{17} }),
		"huge":      change(func(l *symmem.Lent) { l.Shape = []int{1 << 40, 1 << 40} }),
		"negative":  change(func(l *symmem.Lent) { l.Shape = []int{-1} }),
		"before":    change(func(l *symmem.Lent) { l.Offset = -4 }),
		"odd":       change(func(l *symmem.Lent) { l.Offset, l.Shape = 2, []int{4} }),
		"beyond":    change(func(l *symmem.Lent) { l.Bytes = 4100 }),
		"on pad":    change(func(l *symmem.Lent) { l.Data = 0 }),
		"no type":   change(func(l *symmem.Lent) { l.DType = 3 }),
		"too small": change(func(l *symmem.Lent) { l.Size = 1 << 20 }),
		"unsealed":  whole,
	}
	rt, err := symmem.Init(symmem.Config{Device: "cpu", Lend: func(_ context.Context, name string) (symmem.Lent, error) {
		l, ok := lent[name]
		if !ok {
			return l, fmt.Errorf("%s is no variable", name)
		}
		of := sealed
		if name == "unsealed" {
			of = other
		}
		fd, err := unix.FcntlInt(of.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		l.Memory = os.NewFile(uintptr(fd), "copy")
		return l, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	must := func(do func()) {
		t.Helper()
		if err := symmem.Maybe(do); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(kind symmem.Kind, text string, do func()) {
		t.Helper()
		var e *symmem.Error
		if err := symmem.Maybe(do); !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Msg, text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	for name, text := range map[string]string{
		"nope": "nope is no variable", "large": "not in its memory", "huge": "too large", "negative": "negative", "before": "not in its memory",
		"odd": "not in its memory", "beyond": "not in its memory", "on pad": "not in its memory", "no type": "is not an element type",
	} {
		refused(symmem.KindMisuse, text, func() { rt.FromTorch(name) })
	}
	for _, name := range []string{"unsealed", "too small"} {
		refused(symmem.KindSystem, "not a sealed segment", func() { rt.FromTorch(name) })
	}
	must(func() {
		x := rt.FromTorch("t")
		if got := x.Ints(); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}) {
			t.Errorf("the elements are %v", got)
		}
		row := rt.FromTorch("row")
		row.Fill(9)
		h := rt.Rendezvous(x)
		seen := x.Ints()[4]
		if got := lentWordAt(t, sealed, lentData+16); got != 9 || seen != 9 || h.SignalPadSize() != lentPad || h.BufferSize() != lentBytes {
			t.Errorf("%d in the memory, %v in the tensor, a pad of %d bytes", got, x.Ints(), h.SignalPadSize())
		}
		if n := rt.FromTorch("empty").Numel(); n != 0 {
			t.Errorf("an empty tensor has %d elements", n)
		}
		if _, err := rt.Recover(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if got := lentWordAt(t, sealed, 4*lentWord); got != 1 {
			t.Errorf("after Recover the program's signal is %d", got)
		}
		row.Free() // a part, which ends the view alone
		x.Free()
		if got := lentWordAt(t, sealed, lentData+4); got != 1 {
			t.Errorf("after Free the memory has %d", got)
		}
		refused(symmem.KindMisuse, "was freed", func() { x.Ints() })
	})
	// Views that nobody holds are no memory for later tensors.
	must(func() {
		for range 200 {
			rt.FromTorch("t")
			rt.SetSignalPadSize(lentPad)
			rt.Empty(symmem.I32, 4, 4).Fill(77)
			runtime.GC()
		}
	})
	if got := lentWordAt(t, sealed, lentData+4); got != 1 {
		t.Errorf("a later tensor has written %d", got)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if n := strings.Count(string(maps), "memfd:lent"); err != nil || n > 100 {
		t.Errorf("%v, %d views are mapped", err, n)
	}
	plain, err := symmem.Init(symmem.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	refused(symmem.KindMisuse, "attached to no program", func() { plain.FromTorch("t") })
	refused(symmem.KindMisuse, "attached to no program", func() { symmem.FromTorch("t") })
	var none *symmem.Group
	for _, g := range []*symmem.Group{none, {}} {
		refused(symmem.KindMisuse, "group", func() { g.FromTorch("t") })
	}
	freed := rt.NewGroup(0)
	freed.Free()
	refused(symmem.KindPeer, "was freed", func() { freed.FromTorch("t") })
	refused(symmem.KindMisuse, "while a graph is captured", func() { rt.Capture(func() { rt.FromTorch("t") }) })
	rt.Close()
	refused(symmem.KindMisuse, "closed", func() { rt.FromTorch("t") })
}
