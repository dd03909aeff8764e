package cuda

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// testCopies: several copies at once; words that are stored, filled and awaited; a blocked stream
// whose word is read and set from outside.
func testCopies(t *testing.T, d *Device) {
	const n = 1 << 20
	p, err := d.Alloc(6 * n)
	must(t, err)
	s := newStream(t, d)
	var copies []device.Copy
	for i := range 3 {
		must(t, s.Write(p+device.Ptr(i*n), pattern(n, i)))
		copies = append(copies, device.Copy{Dst: p + device.Ptr((5-i)*n), Src: p + device.Ptr(i*n), N: n - i})
	}
	must(t, s.CopyAll(copies))
	for i := range 3 {
		wants(t, s, copies[i].Dst, pattern(n, i)[:n-i], "a copy")
	}
	must(t, s.SetWords(p, 0x01020304, 3))
	must(t, s.Values([]device.Value{{Word: p + 4, Value: 7}, {Word: p + 8, Value: 0x01020304, Await: true}, {Word: p + 8, Value: 9}}))
	wants(t, s, p, []byte{4, 3, 2, 1, 7, 0, 0, 0, 9, 0, 0, 0}, "words")

	must(t, s.Values([]device.Value{{Word: p, Value: 5, Await: true}, {Word: p, Value: 6}}))
	time.Sleep(5 * time.Millisecond)
	var word [4]byte
	must(t, d.Peek(word[:], p))
	if got := binary.LittleEndian.Uint32(word[:]); got != 0x01020304 {
		t.Errorf("while the stream is held the word is %#x", got)
	}
	if idle, err := s.Idle(); err != nil || idle {
		t.Errorf("a held stream: idle %v, %v", idle, err)
	}
	must(t, d.Poke(p, 5))
	wants(t, s, p, []byte{6, 0, 0, 0}, "released")
	must(t, s.Close())
	must(t, d.Free(p))
}

// testManyHeld: a word is read while far more streams are held than the driver has queues, and set while
// fewer are: see sy_poke.
func testManyHeld(t *testing.T, d *Device) {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_SHARED)
	must(t, err)
	defer unix.Munmap(page)
	held, err := d.MapHost(unsafe.Pointer(&page[0]), len(page))
	must(t, err)
	p, err := d.Alloc(4)
	must(t, err)
	var streams []*Stream
	for range 40 { // before any is held: the driver makes some only when the device is idle
		streams = append(streams, newStream(t, d))
	}
	within := func(what string, do func() error) {
		done := make(chan error, 1)
		go func() { done <- do() }()
		select {
		case err := <-done:
			must(t, err)
		case <-time.After(10 * time.Second):
			t.Fatalf("the word is %s behind the held streams", what)
		}
	}
	hold := func(streams []*Stream, word device.Ptr) {
		for _, s := range streams {
			must(t, s.Values([]device.Value{{Word: word, Value: 5, Await: true}}))
		}
	}
	hold(streams, held)
	within("read", func() error { return d.Peek(make([]byte, 4), p) })
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&page[0])), 5)
	for _, s := range streams {
		must(t, s.Synchronize())
	}
	hold(streams[:6], p)
	within("set", func() error { return d.Poke(p, 5) })
	for _, s := range streams {
		must(t, s.Synchronize())
		must(t, s.Close())
	}
	must(t, d.UnmapHost(unsafe.Pointer(&page[0])))
	must(t, d.Free(p))
}
