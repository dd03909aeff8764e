package cuda

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

//go:embed testdata/fakenccl.c
var fakeNCCLSource []byte

// fakeNCCL builds the NCCL of testdata and returns its path.
func fakeNCCL(t *testing.T, flags ...string) string {
	return fakeLibrary(t, fakeNCCLSource, "libnccl.so.2", flags...)
}

// TestNCCLVersions: libraries are accepted or refused by their version.
func TestNCCLVersions(t *testing.T) {
	whole, old := fakeNCCL(t), fakeNCCL(t, "-DOLD")
	for _, c := range []struct{ path, version, want string }{
		{whole, "22800", "2.28.0"}, {whole, "22809", "2.28.9"}, {whole, "22907", "2.29.7"}, {whole, "23007", "2.30.7"},
		{whole, "23102", "2.31.2"}, {whole, "23203", "2.32.3"},
		{old, "22705", "version 2.27.5 is older than 2.28.0, the oldest that is known"},
		{old, "22809", "lacks ncclCommWindowRegister"},
		{whole, "23300", "version 2.33.0 is newer than 2.32, the newest that is known"},
		{"/nowhere", "", "SYMMREPL_NCCL is /nowhere, which has no NCCL"},
		{"", "", "NCCL was not found"},
	} {
		t.Setenv("FAKE_NCCL_VERSION", c.version)
		env := func(name string) string { return map[string]string{"SYMMREPL_NCCL": c.path}[name] }
		l, err := openNCCL(libs.Host{Getenv: env, Folder: t.TempDir(), Cache: "/nowhere"})
		var un *device.UnavailableError
		switch {
		case err == nil && l.Version() != c.want:
			t.Errorf("version %s is taken for %s", c.version, l.Version())
		case err == nil:
			want := "collectives, device API"
			if c.version >= "23007" {
				want = "collectives, windows, device API, puts"
			}
			if got := strings.Join(l.Features(), ", "); got != want {
				t.Errorf("the features of %s are %q, want %q", c.version, got, want)
			}
		case !errors.As(err, &un) || !strings.Contains(un.Why, c.want) || un.Hint == "":
			t.Errorf("%s %s: %v, want %q", c.path, c.version, err, c.want)
		}
	}
}

// TestNCCLCollectives runs collectives of two devices in one process.
func TestNCCLCollectives(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t), "SYMMREPL_NCCL="+fakeNCCL(t))
		return
	}
	devices := []*Device{opened(t, 0), opened(t, 1)}
	comms, err := joined(t, context.Background(), devices)
	must(t, err)
	words := func(v ...float32) (b []byte) {
		for _, x := range v {
			b = binary.NativeEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	for _, c := range []struct {
		name string
		call device.Collective
		want [2][]byte
	}{
		{"all-reduce", device.Collective{Kind: device.AllReduce, N: 4, Type: "f32", Reduction: "sum"},
			[2][]byte{words(11, 22, 33, 44), words(11, 22, 33, 44)}},
		{"average", device.Collective{Kind: device.AllReduce, N: 2, Type: "f32", Reduction: "avg"}, [2][]byte{words(5.5, 11), words(5.5, 11)}},
		{"reduce-scatter", device.Collective{Kind: device.ReduceScatter, N: 2, Type: "f32", Reduction: "max"},
			[2][]byte{words(10, 20), words(30, 40)}},
		{"all-gather", device.Collective{Kind: device.AllGather, N: 8, Type: "u8"}, [2][]byte{words(1, 2, 10, 20), words(1, 2, 10, 20)}},
		{"all-to-all", device.Collective{Kind: device.AllToAll, N: 8, Type: "u8"}, [2][]byte{words(1, 2, 10, 20), words(3, 4, 30, 40)}},
		{"broadcast", device.Collective{Kind: device.Broadcast, N: 16, Type: "u8", Root: 1},
			[2][]byte{words(10, 20, 30, 40), words(10, 20, 30, 40)}},
	} {
		var streams [2]*Stream
		var at [2]device.Ptr
		for i, d := range devices {
			streams[i] = newStream(t, d)
			p, err := d.Alloc(1 << 12)
			must(t, err)
			at[i] = p
			scale := float32(1)
			if i == 1 {
				scale = 10
			}
			must(t, streams[i].Write(p, words(scale, 2*scale, 3*scale, 4*scale)))
			call := c.call
			call.Src, call.Dst = p, p+1024
			must(t, streams[i].Collective(comms[i], call))
		}
		for busy := true; busy; { // neither member can finish alone
			busy = false
			for _, s := range streams {
				idle, err := s.Idle()
				must(t, err)
				busy = busy || !idle
			}
		}
		for i, d := range devices {
			wants(t, streams[i], at[i]+1024, c.want[i], c.name)
			must(t, streams[i].Close())
			must(t, d.Free(at[i]))
		}
	}
	adoptsComms(t, devices, comms)
	s := newStream(t, devices[0])
	if err := s.Collective(comms[0], device.Collective{Kind: device.AllReduce, N: 1, Type: "f8e4m3",
		Reduction: "sum"}); err == nil || err.Error() != `NCCL has no "sum" of f8e4m3` {
		t.Errorf("an 8-bit float gives %v", err)
	}

	// A call that waits for the other member ends with the communicator.
	p, err := devices[0].Alloc(4)
	must(t, err)
	must(t, s.Collective(comms[0], device.Collective{Kind: device.AllReduce, Src: p, Dst: p, N: 1, Type: "f32", Reduction: "sum"}))
	if idle, err := s.Idle(); idle || err != nil {
		t.Errorf("Idle is %v (%v) while a call waits", idle, err)
	}
	must(t, comms[0].Failure())
	comms[0].End(true)
	must(t, s.Synchronize())
	var failed *device.LibraryError
	if err := s.Collective(comms[0], device.Collective{Kind: device.AllReduce, Src: p, Dst: p, N: 1, Type: "f32",
		Reduction: "sum"}); !errors.As(err, &failed) || failed.Text != "the communicator was ended" {
		t.Errorf("a call after the end gives %v", err)
	}
	comms[1].End(true)
	for i, c := range comms {
		if !c.Ended(10 * time.Second) {
			t.Errorf("communicator %d does not end", i)
		}
		c.Free()
	}
	must(t, s.Close())
	must(t, devices[0].Free(p))
	for _, d := range devices {
		must(t, d.Close())
	}
}

// adoptsComms adopts communicators that the library has made, which stay as they are when the adopted ones
// end, and is refused others.
func adoptsComms(t *testing.T, devices []*Device, comms []device.Communicator) {
	t.Helper()
	ctx, library := t.Context(), make([]device.Collectives, len(devices))
	for i, d := range devices {
		var err error
		library[i], err = d.Collectives(nil)
		must(t, err)
	}
	for _, c := range []struct {
		p          uintptr
		rank, size int
		on         int
		want       string
	}{
		{comms[0].Pointer(), 1, 2, 0, "this process has rank 0 of 2 in it, and rank 1 of 2 in the group"},
		{comms[0].Pointer(), 0, 3, 0, "this process has rank 0 of 2 in it, and rank 0 of 3 in the group"},
		{comms[0].Pointer(), 0, 2, 1, "it is on another GPU than this rank"},
		{0, 0, 2, 0, "there is no memory at that address"},
		{12345, 0, 2, 0, "there is no memory at that address"},
		{^uintptr(0) - 7, 0, 2, 0, "there is no memory at that address"},
		{uintptr(unsafe.Pointer(new([512]byte))), 0, 2, 0, "ncclCommCount returned 4: invalid argument"},
	} {
		if err := library[c.on].Fits(c.p, c.rank, c.size); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("adopting %#x as rank %d of %d: %v, want %s", c.p, c.rank, c.size, err, c.want)
		}
	}
	for range 2 { // the end of the first ones leaves them to the second ones
		adopted, errs := make([]device.Communicator, len(comms)), make([]error, len(comms))
		var wg sync.WaitGroup
		for i := range comms {
			wg.Go(func() { adopted[i], errs[i] = library[i].Adopt(ctx, comms[i].Pointer(), i, len(comms)) })
		}
		wg.Wait()
		must(t, errors.Join(errs...))
		for i, c := range adopted {
			if c.Pointer() != comms[i].Pointer() {
				t.Errorf("the adopted communicator is at %#x, not %#x", c.Pointer(), comms[i].Pointer())
			}
			c.End(false)
			if !c.Ended(10*time.Second) || c.Pointer() != 0 {
				t.Errorf("the adopted communicator has not ended: %#x", c.Pointer())
			}
			c.Free()
		}
		for _, c := range comms {
			must(t, c.Failure())
		}
	}
}

// joined makes a communicator for each device.
func joined(t *testing.T, ctx context.Context, devices []*Device) ([]device.Communicator, error) {
	t.Helper()
	library, err := devices[0].Collectives([]string{"NCCL_HOSTID=one"})
	must(t, err)
	id, err := library.NewID()
	must(t, err)
	comms, errs := make([]device.Communicator, len(devices)), make([]error, len(devices))
	var all sync.WaitGroup
	for i, d := range devices {
		all.Go(func() {
			l, err := d.Collectives(nil)
			must(t, err)
			comms[i], errs[i] = l.Join(ctx, id, i, len(devices), false)
		})
	}
	all.Wait()
	return comms, errors.Join(errs...)
}

// TestNCCLNeverJoins gives up communicators whose members never all join.
func TestNCCLNeverJoins(t *testing.T) {
	if !inChild(t) {
		for _, where := range []string{"init", "greet"} {
			again(t, driverVariable+"="+fakeDriver(t), "SYMMREPL_NCCL="+fakeNCCL(t), "FAKE_NCCL_HANG="+where)
		}
		return
	}
	devices := []*Device{opened(t, 0), opened(t, 1)}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := joined(t, ctx, devices); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("joining gives %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestNCCLFailures: errors contain the library's own words.
func TestNCCLFailures(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t), "SYMMREPL_NCCL="+fakeNCCL(t), "FAKE_NCCL_FAIL=ncclCommInitRankConfig=6")
		return
	}
	_, err := joined(t, context.Background(), []*Device{opened(t, 0), opened(t, 1)})
	var failed *device.LibraryError
	if !errors.As(err, &failed) || !failed.Remote ||
		failed.Error() != "ncclCommInitRankConfig returned 6: remote process exited or there was a network error: fake error, HOSTID one" {
		t.Errorf("joining gives %v", err)
	}
}
