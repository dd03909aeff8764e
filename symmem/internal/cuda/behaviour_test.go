package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Tests that every driver must pass, the fake one and a GPU's.

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func opened(t *testing.T, index int) *Device {
	t.Helper()
	d, err := Open(index, "", false)
	must(t, err)
	return d.(*Device)
}

func newStream(t *testing.T, d *Device) *Stream {
	t.Helper()
	s, err := d.NewStream()
	must(t, err)
	return s.(*Stream)
}

// pattern returns n bytes that differ from their neighbours and from zero.
func pattern(n, seed int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(1 + (i*7+i>>8+seed)%255)
	}
	return p
}

// wants checks device memory against bytes.
func wants(t *testing.T, s *Stream, at device.Ptr, want []byte, what string) {
	t.Helper()
	got := bytes.Repeat([]byte{0xee}, len(want))
	must(t, s.Read(got, at))
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: byte %d is %#x, want %#x", what, i, got[i], want[i])
		}
	}
}

// testMemory: zeroed, aligned; writes and reads larger than the staging memory, at odd offsets;
// copies; sets.
func testMemory(t *testing.T, d *Device) {
	s := newStream(t, d)
	const n = 11<<20 + 13
	a, err := d.Alloc(n)
	must(t, err)
	b, err := d.Alloc(n)
	must(t, err)
	if a%256 != 0 || b%256 != 0 {
		t.Errorf("allocations at %#x and %#x are not 256-byte aligned", a, b)
	}
	wants(t, s, a, make([]byte, n), "fresh memory")
	src := pattern(n, 1)
	want := bytes.Clone(src)
	must(t, s.Write(a, src))
	clear(src) // Write has returned, so src may be reused
	wants(t, s, a, want, "written memory")
	must(t, s.Copy(b+1, a, n-1))
	must(t, s.Set(b+5, 0x5a, 3))
	must(t, s.Copy(b, a, 0))
	must(t, s.Set(b, 1, 0))
	must(t, s.Write(b, nil))
	must(t, s.Read(nil, b))
	copy(want[1:], bytes.Clone(want[:n-1]))
	want[0] = 0
	copy(want[5:], []byte{0x5a, 0x5a, 0x5a})
	wants(t, s, b, want, "copied and set memory")

	// Many small writes wrap the staging memory and must not overtake each other.
	small := make([]byte, 9000)
	for i := range 600 {
		for j := range small {
			small[j] = byte(i)
		}
		must(t, s.Write(a+device.Ptr(i*len(small)), small))
	}
	var all []byte
	for i := range 600 {
		all = append(all, bytes.Repeat([]byte{byte(i)}, len(small))...)
	}
	wants(t, s, a, all, "small writes")

	// The device writes mapped host memory at the address that MapHost returns.
	pages, err := syscall.Mmap(-1, 0, 8192, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	must(t, err)
	defer syscall.Munmap(pages)
	mapped, err := d.MapHost(unsafe.Pointer(&pages[0]), len(pages))
	must(t, err)
	must(t, s.Copy(mapped+4000, a, 4000))
	must(t, s.Synchronize())
	if !bytes.Equal(pages[4000:8000], all[:4000]) || pages[3999] != 0 || pages[8000] != 0 {
		t.Error("mapped host memory has other bytes than were copied there")
	}
	must(t, d.UnmapHost(unsafe.Pointer(&pages[0])))
	must(t, d.Free(a))
	must(t, d.Free(b))
	must(t, s.Close())

	tooMuch := 2 * int(d.Info().Memory)
	if _, err := d.Alloc(tooMuch); !errors.Is(err, device.ErrOutOfMemory) {
		t.Errorf("allocating twice the memory gives %v", err)
	}
	if _, err := d.NewSegment(tooMuch); !errors.Is(err, device.ErrOutOfMemory) {
		t.Errorf("a segment of twice the memory gives %v", err)
	}
}

// testEvents: order between streams, and time.
func testEvents(t *testing.T, d *Device) {
	a, b := newStream(t, d), newStream(t, d)
	p, err := d.Alloc(1 << 20)
	must(t, err)
	e, err := d.NewEvent()
	must(t, err)
	f, err := d.NewEvent()
	must(t, err)
	must(t, e.Synchronize()) // never recorded, so it counts as reached
	reached := func(e device.Event, want bool) {
		t.Helper()
		if got, err := e.Reached(); got != want || err != nil {
			t.Errorf("the event was reached: %v (%v)", got, err)
		}
	}
	reached(e, true)
	must(t, a.Record(e))
	want := pattern(1<<20, 2)
	must(t, a.Write(p, want))
	must(t, a.Record(f))
	must(t, b.Wait(f))
	wants(t, b, p, want, "memory written by the other stream")
	must(t, f.Synchronize())
	us, err := f.Since(e)
	if err != nil || us < 0 || us > 10e6 {
		t.Errorf("between the events are %v µs (%v)", us, err)
	}
	must(t, a.Synchronize())
	if idle, err := a.Idle(); !idle || err != nil {
		t.Errorf("after Synchronize Idle is %v (%v)", idle, err)
	}

	// b waits for an event of a, which is held, and then runs work of its own, which is held, too.
	awaits := func(when string, want bool) {
		t.Helper()
		if got := b.Awaits(); got != want {
			t.Errorf("%s Awaits is %v", when, got)
		}
	}
	hold := func(s *Stream, word device.Ptr) {
		must(t, s.Values([]device.Value{{Word: word, Value: 9, Await: true}}))
	}
	must(t, b.SetWords(p, 0, 2))
	must(t, b.Synchronize())
	awaits("without a wait", false)
	hold(a, p)
	must(t, a.Record(f))
	must(t, b.Wait(f))
	hold(b, p+4)
	time.Sleep(5 * time.Millisecond)
	awaits("while the event is awaited", true)
	reached(f, false)
	must(t, d.Poke(p, 9))
	must(t, f.Synchronize())
	reached(f, true)
	time.Sleep(5 * time.Millisecond)
	awaits("while the work after the wait runs", false)
	must(t, d.Poke(p+4, 9))
	must(t, b.Synchronize())
	must(t, e.Close())
	must(t, f.Close())
	must(t, a.Close())
	must(t, b.Close())
	must(t, d.Free(p))
}

// testCapture: recorded work runs only at replay; forbidden calls are refused and leave the
// recording intact.
func testCapture(t *testing.T, d *Device) {
	s, other := newStream(t, d), newStream(t, d)
	p, err := d.Alloc(4096)
	must(t, err)
	e, err := d.NewEvent()
	must(t, err)

	must(t, s.BeginCapture())
	host := pattern(4096, 3)
	want := bytes.Clone(host)
	must(t, s.Write(p, host))
	clear(host)
	must(t, s.Set(p+8, 0x77, 8))
	copy(want[8:16], bytes.Repeat([]byte{0x77}, 8))
	refused := map[string]error{
		"Read":                s.Read(make([]byte, 4), p),
		"Synchronize":         s.Synchronize(),
		"Synchronize (other)": other.Synchronize(),
		"Event.Synchronize":   e.Synchronize(),
		"BeginCapture":        s.BeginCapture(),
		"BeginCapture(other)": other.BeginCapture(),
	}
	_, refused["Idle"] = s.Idle()
	_, refused["Alloc"] = d.Alloc(16)
	_, refused["NewSegment"] = d.NewSegment(16)
	for call, err := range refused {
		if !errors.Is(err, device.ErrCapturing) {
			t.Errorf("%s while capturing gives %v", call, err)
		}
	}
	g, err := s.EndCapture()
	must(t, err)
	wants(t, s, p, make([]byte, 4096), "before the replay")
	must(t, g.Launch(s))
	wants(t, s, p, want, "after the replay")
	must(t, s.Set(p, 0, 4096))
	must(t, g.Launch(other))
	must(t, other.Synchronize())
	must(t, s.Synchronize())
	must(t, g.Launch(s))
	wants(t, s, p, want, "after a second replay")

	must(t, s.BeginCapture())
	if err := g.Launch(s); !errors.Is(err, device.ErrCapturing) {
		t.Errorf("Graph.Launch while capturing gives %v", err)
	}
	must(t, s.Close()) // drops the capture
	must(t, g.Close())
	if _, err := d.Alloc(16); err != nil {
		t.Errorf("after the capture was dropped Alloc gives %v", err)
	}
	must(t, other.Close())
	must(t, e.Close())
	must(t, d.Free(p))
}

// testSegments: a second process, on the second GPU if there is one, maps the segment, finds its
// contents and answers.
func testSegments(t *testing.T, d *Device, peer int) {
	s := newStream(t, d)
	seg, err := d.NewSegment(3<<20 + 1)
	must(t, err)
	if seg.Size() < 3<<20+1 || seg.Ptr() == 0 {
		t.Fatalf("the segment has %d bytes at %#x", seg.Size(), seg.Ptr())
	}
	wants(t, s, seg.Ptr(), make([]byte, seg.Size()), "fresh segment")
	must(t, s.Write(seg.Ptr(), pattern(1<<20, 4)))
	must(t, s.Synchronize())

	fd, err := seg.Export()
	must(t, err)
	file := os.NewFile(uintptr(fd), "segment")
	child := command("TestImporter", fmt.Sprintf("SYMMTEST_SEGMENT=%d", seg.Size()), fmt.Sprintf("SYMMTEST_GPU=%d", peer))
	child.ExtraFiles = []*os.File{file}
	out, err := child.CombinedOutput()
	file.Close()
	if err != nil {
		t.Fatalf("the importing process: %v\n%s", err, out)
	}
	wants(t, s, seg.Ptr()+2<<20, pattern(1<<20, 5), "what the other process wrote")
	must(t, seg.Close())
	must(t, s.Close())

	if _, err := d.ImportSegment(int(devNull(t)), 2<<20); err == nil {
		t.Error("a file that is no segment was imported")
	}
}

// devNull returns a descriptor that ImportSegment may consume.
func devNull(t *testing.T) uintptr {
	t.Helper()
	f, err := os.Open(os.DevNull)
	must(t, err)
	fd, err := dup(int(f.Fd()))
	must(t, err)
	f.Close()
	return uintptr(fd)
}

// TestImporter is the second process of testSegments.
func TestImporter(t *testing.T) {
	size, err := strconv.Atoi(os.Getenv("SYMMTEST_SEGMENT"))
	if err != nil {
		t.Skip("runs as the second process of other tests only")
	}
	gpu, err := strconv.Atoi(os.Getenv("SYMMTEST_GPU"))
	must(t, err)
	d := opened(t, gpu)
	s := newStream(t, d)
	seg, err := d.ImportSegment(3, size)
	must(t, err)
	if err := os.NewFile(3, "segment").Close(); err == nil {
		t.Error("ImportSegment left its descriptor open")
	}
	if seg.Size() != size {
		t.Errorf("the segment has %d bytes here, %d there", seg.Size(), size)
	}
	wants(t, s, seg.Ptr(), pattern(1<<20, 4), "what the other process wrote")
	must(t, s.Write(seg.Ptr()+2<<20, pattern(1<<20, 5)))
	must(t, s.Synchronize())
	must(t, seg.Close())
	must(t, s.Close())
	must(t, d.Close())
}

// testThreads uses one device from many goroutines, each with its own stream.
func testThreads(t *testing.T, d *Device) {
	const n = 16
	done := make(chan error, n)
	for i := range n {
		go func() {
			done <- func() error {
				s, err := d.NewStream()
				if err != nil {
					return err
				}
				p, err := d.Alloc(1 << 16)
				if err != nil {
					return err
				}
				got := make([]byte, 1<<16)
				for round := range 20 {
					want := pattern(1<<16, i*100+round)
					if err := errors.Join(s.Write(p, want), s.Read(got, p)); err != nil {
						return err
					}
					if !bytes.Equal(got, want) {
						return fmt.Errorf("goroutine %d, round %d: read something else than was written", i, round)
					}
				}
				return errors.Join(d.Free(p), s.Close())
			}()
		}()
	}
	for range n {
		select {
		case err := <-done:
			must(t, err)
		case <-time.After(time.Minute):
			t.Fatal("the goroutines do not finish")
		}
	}
}
