package cuda

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

//go:embed testdata/fakenvshmem.c
var fakeSHMEMSource []byte

// fakeSHMEM builds the NVSHMEM of testdata and returns its path.
func fakeSHMEM(t *testing.T, flags ...string) string {
	return fakeLibrary(t, fakeSHMEMSource, "libnvshmem_host.so.3", flags...)
}

// TestSHMEMVersions: libraries are accepted or refused by their version.
func TestSHMEMVersions(t *testing.T) {
	whole, old := fakeSHMEM(t), fakeSHMEM(t, "-DOLD")
	for _, c := range []struct{ path, version, want string }{
		{whole, "3.4.5", "3.4.5"}, {whole, "3.8.0", "3.8.0"}, {filepath.Dir(whole), "3.5.19", "3.5.19"},
		{whole, "3.3.20", "version 3.3.20 is older than 3.4, the oldest that is known"},
		{whole, "3.9.0", "version 3.9.0 is newer than 3.8, the newest that is known"},
		{whole, "4.0.0", "version 4.0.0 is newer than 3.8"}, {whole, "2.12.0", "version 2.12.0 is older than 3.4"},
		{old, "3.4.5", "lacks nvshmemx_hostlib_init_attr"},
		{"/nowhere", "", "NVSHMEM was not found: SYMMREPL_NVSHMEM is /nowhere, which has no NVSHMEM"},
		{"", "", "NVSHMEM was not found"},
	} {
		t.Setenv("FAKE_NVSHMEM_VERSION", c.version)
		env := func(name string) string { return map[string]string{"SYMMREPL_NVSHMEM": c.path}[name] }
		l, err := openSHMEM(libs.Host{Getenv: env, Folder: t.TempDir(), Cache: "/nowhere"})
		var un *device.UnavailableError
		switch {
		case err == nil && l.Version() != c.want:
			t.Errorf("version %s is taken for %s", c.version, l.Version())
		case err == nil:
		case !errors.As(err, &un) || !strings.Contains(un.Why, c.want) || un.Hint == "":
			t.Errorf("%s %s: %v, want %q", c.path, c.version, err, c.want)
		}
	}
}

// TestSHMEM makes a heap of one member, twice, on the stand-in.
func TestSHMEM(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t), "SYMMREPL_NVSHMEM="+fakeSHMEM(t))
		return
	}
	d := opened(t, 0)
	for range 2 {
		testHeap(t, d)
	}
	must(t, d.Close())
}

// TestSHMEMGivenUp: a call that does not return is given up, and the library with it.
func TestSHMEMGivenUp(t *testing.T) {
	if !inChild(t) {
		for _, where := range []string{"init", "malloc", "free", "finalize"} {
			again(t, driverVariable+"="+fakeDriver(t), "SYMMREPL_NVSHMEM="+fakeSHMEM(t), "FAKE_NVSHMEM_HANG="+where)
		}
		return
	}
	d := opened(t, 0)
	s := newStream(t, d)
	l, err := d.Heaps(nil)
	must(t, err)
	id, err := l.NewID()
	must(t, err)
	brief := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	var h device.Heap
	var seg device.HeapSegment
	functions := map[string]string{"init": "nvshmemx_hostlib_init_attr", "malloc": "nvshmem_malloc", "free": "nvshmem_free",
		"finalize": "nvshmemx_hostlib_finalize"}
	for _, step := range []struct {
		name string
		f    func() error
	}{
		{"init", func() (err error) { h, err = l.Join(brief(), id, 0, 1); return err }},
		{"malloc", func() (err error) { seg, err = h.NewSegment(brief(), 4096); return err }},
		{"free", func() error { return seg.Free(brief()) }},
		{"finalize", func() error { return h.Close(brief()) }},
	} {
		err := step.f()
		if step.name != os.Getenv("FAKE_NVSHMEM_HANG") {
			must(t, err)
			continue
		}
		if want := functions[step.name] + " did not return"; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", step.name, err, want)
		}
		break
	}
	want := "NVSHMEM 3.4.5 cannot be used any more in this process: its " + functions[os.Getenv("FAKE_NVSHMEM_HANG")] + " was given up"
	if _, err := l.Join(brief(), id, 0, 1); err == nil || err.Error() != want {
		t.Errorf("joining then gives %v, want %q", err, want)
	}
	if err := s.OneSided(heap{d, l.(heaps).l}, device.OneSided{Kind: device.HeapWait}); err == nil || err.Error() != want {
		t.Errorf("a call then gives %v, want %q", err, want)
	}
}

// TestSHMEMPEs runs TestGPUSHMEM on the stand-ins.
func TestSHMEMPEs(t *testing.T) {
	out, err := command("TestGPUSHMEM", childVariable+"=", driverVariable+"="+fakeDriver(t), "SYMMREPL_NVSHMEM="+fakeSHMEM(t)).CombinedOutput()
	for _, want := range []string{"--- PASS: TestGPUSHMEM/1PE ", "--- PASS: TestGPUSHMEM/2PEs ",
		"RESULT: two PEs that share a GPU work under NVSHMEM itself", "PE 1: has left, after "} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("%v; %q is missing in\n%s", err, want, out)
		}
	}
}

// testHeap makes a heap of one member, in which every operation is on its own memory.
func testHeap(t *testing.T, d *Device) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := d.Heaps([]string{"NVSHMEM_DISABLE_NVLS=1", "NVSHMEM_REMOTE_TRANSPORT=none"})
	must(t, err)
	id, err := l.NewID()
	must(t, err)
	h, err := l.Join(ctx, id, 0, 1)
	must(t, err)
	if _, err := l.Join(ctx, id, 0, 1); !errors.Is(err, errOneHeap) {
		t.Errorf("joining twice gives %v", err)
	}
	heapOf(t, ctx, d, h, 0, 1)
	must(t, h.Close(ctx))
}

// heapOf puts, gets, signals and waits around the ring of a heap's members.
func heapOf(t *testing.T, ctx context.Context, d *Device, h device.Heap, rank, size int) {
	t.Helper()
	const n = 1 << 20
	seg, err := h.NewSegment(ctx, n+64)
	must(t, err)
	next, last := (rank+1)%size, (rank+size-1)%size
	peer, err := seg.Peer(next)
	must(t, err)
	if size == 1 && peer.Ptr() != seg.Ptr() {
		t.Errorf("this member's memory is at 0x%x, and by nvshmem_ptr at 0x%x", seg.Ptr(), peer.Ptr())
	}
	s := newStream(t, d)
	local, err := d.Alloc(n)
	must(t, err)
	wants(t, s, seg.Ptr()+n-8, make([]byte, 8+64), "fresh memory")
	meeting, err := h.NewSegment(ctx, 8) // all have looked
	must(t, err)
	do := func(o device.OneSided) {
		t.Helper()
		must(t, s.OneSided(h, o))
	}
	words := seg.Ptr() + n
	fill := func(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), n)) }
	must(t, s.Write(local, fill('a'+byte(rank))))
	do(device.OneSided{Kind: device.HeapPutSignal, Dst: seg.Ptr(), Src: local, N: n, Peer: next, Word: words, Value: 1<<40 + 3})
	do(device.OneSided{Kind: device.HeapWait, Word: words, Value: 1<<40 + 3})
	wants(t, s, seg.Ptr(), fill('a'+byte(last)), "what was put with a signal")
	for p := range size { // all have looked
		do(device.OneSided{Kind: device.HeapSignalAdd, Word: words + 8, Peer: p, Value: 1})
	}
	do(device.OneSided{Kind: device.HeapWait, Word: words + 8, Value: uint64(size), AtLeast: true})
	must(t, s.Write(local, fill('k'+byte(rank))))
	do(device.OneSided{Kind: device.HeapPut, Dst: seg.Ptr(), Src: local, N: n, Peer: next})
	do(device.OneSided{Kind: device.HeapSignalAdd, Word: words + 16, Peer: next, Value: 1})
	do(device.OneSided{Kind: device.HeapWait, Word: words + 16, Value: 1})
	wants(t, s, seg.Ptr(), fill('k'+byte(last)), "what was put")
	for p := range size {
		do(device.OneSided{Kind: device.HeapSignalAdd, Word: words + 24, Peer: p, Value: 1})
	}
	do(device.OneSided{Kind: device.HeapWait, Word: words + 24, Value: uint64(size), AtLeast: true})
	do(device.OneSided{Kind: device.HeapGet, Dst: local, Src: seg.Ptr(), N: n, Peer: next})
	wants(t, s, local, fill('k'+byte(rank)), "what was got")
	// A wait that nobody ends ends by its word.
	do(device.OneSided{Kind: device.HeapWait, Word: words + 32, Value: 1<<33 + 5})
	if idle, err := s.Idle(); idle || err != nil {
		t.Errorf("Idle is %v (%v) while the stream waits", idle, err)
	}
	must(t, d.Poke(words+36, 2))
	must(t, d.Poke(words+32, 5))
	must(t, s.Synchronize())
	must(t, meeting.Free(ctx))
	must(t, seg.Free(ctx))
	must(t, s.Close())
	must(t, d.Free(local))
}

// What a child of TestGPUSHMEM reads: its rank, the number of PEs, its GPU, and the folder in which
// the PEs find the heap's ID and each other.
const peVariable = "SYMMTEST_PE"

// TestGPUSHMEM runs NVSHMEM itself with one PE on one GPU, with two PEs on two GPUs, and with two PEs
// that share one, which symmem refuses: the log says how that ends.
func TestGPUSHMEM(t *testing.T) {
	if inChild(t) {
		shmemPE(t)
		return
	}
	n, err := Count()
	if err != nil {
		t.Skip(err)
	}
	if _, err := SHMEM(); err != nil {
		t.Skip(err)
	}
	t.Run("1PE", func(t *testing.T) {
		if said, failed := runPEs(t, "TestGPUSHMEM", 0); failed {
			t.Error(said)
		}
	})
	t.Run("2PEs", func(t *testing.T) {
		if n < 2 {
			t.Skip("two GPUs are needed")
		}
		if said, failed := runPEs(t, "TestGPUSHMEM", 0, 1); failed {
			t.Error(said)
		}
	})
	t.Run("2PEsShareOneGPU", func(t *testing.T) {
		said, failed := runPEs(t, "TestGPUSHMEM", 0, 0)
		if failed {
			t.Logf("RESULT: two PEs that share a GPU do NOT work under NVSHMEM itself:\n%s", said)
		} else {
			t.Logf("RESULT: two PEs that share a GPU work under NVSHMEM itself:\n%s", said)
		}
	})
}

// peLimit is the time after which PEs count as hung.
const peLimit = 25 * time.Second

// runPEs runs a PE on each of these GPUs. It returns what they wrote, and whether one failed or did not
// end in time.
func runPEs(t *testing.T, test string, gpus ...int) (said string, failed bool) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), peLimit)
	defer cancel()
	type pe struct {
		*exec.Cmd
		out strings.Builder
	}
	var pes []*pe
	for rank, gpu := range gpus {
		c := command(test, fmt.Sprintf("%s=%d %d %d %s", peVariable, rank, len(gpus), gpu, dir), "NVSHMEM_DISABLE_NVLS=1", "NVSHMEM_DEBUG=WARN")
		p := &pe{Cmd: exec.CommandContext(ctx, c.Path, c.Args[1:]...)}
		p.Env, p.Stdout, p.Stderr, p.WaitDelay = c.Env, &p.out, &p.out, time.Second
		must(t, p.Start())
		pes = append(pes, p)
	}
	for rank, p := range pes {
		err := p.Wait()
		if ctx.Err() != nil {
			err = fmt.Errorf("it did not end within %v", peLimit)
		}
		failed = failed || err != nil
		said += fmt.Sprintf("PE %d of %d on GPU %d: %v\n%s\n", rank, len(gpus), gpus[rank], err, &p.out)
	}
	return said, failed
}

// shmemPE is one PE.
func shmemPE(t *testing.T) {
	var rank, size, gpu int
	var dir string
	_, err := fmt.Sscanf(os.Getenv(peVariable), "%d %d %d %s", &rank, &size, &gpu, &dir)
	must(t, err)
	begun := time.Now()
	step := func(what string) {
		fmt.Printf("PE %d: %s, after %v\n", rank, what, time.Since(begun).Round(time.Millisecond))
	}
	d := opened(t, gpu)
	l, err := d.Heaps([]string{"NVSHMEM_REMOTE_TRANSPORT=none", "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=lo"})
	must(t, err)
	file := filepath.Join(dir, "id")
	if rank == 0 {
		id, err := l.NewID()
		must(t, err)
		must(t, os.WriteFile(file+".new", id, 0o600))
		must(t, os.Rename(file+".new", file))
	}
	var id []byte
	for ; id == nil; time.Sleep(10 * time.Millisecond) { // the parent has a limit for this
		id, _ = os.ReadFile(file)
	}
	step("joins " + l.Name())
	ctx, cancel := context.WithTimeout(context.Background(), peLimit)
	defer cancel()
	h, err := l.Join(ctx, id, rank, size)
	must(t, err)
	step("has joined; it puts, signals and waits")
	heapOf(t, ctx, d, h, rank, size)
	step("is done; it leaves")
	must(t, h.Close(ctx))
	step("has left")
	must(t, d.Close())
}
