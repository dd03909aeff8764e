//go:build linux && (amd64 || arm64)

package cpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const (
	segmentBytes = 1 << 16
	pingPong     = `
// Two processes alternate: the flag says whose turn it is, and each adds its number to the sum in
// its turn.
__global__ void turns(symm::u32* flag, symm::u64* sum, unsigned mine, unsigned rounds) {
  if (threadIdx.x == 0)
    for (unsigned r = mine; r < 2 * rounds; r += 2) {
      while (symm::load_acquire(flag) != r) symm_cpu_yield();
      *sum += r;
      symm::store_release(flag, r + 1);
    }
}`
	pingPongRounds = 500
)

// peerMain is the second process of TestSharedSegment: it finds the segment at descriptor 3.
func peerMain() int {
	if err := runPeer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runPeer() error {
	d, err := Open(1)
	if err != nil {
		return err
	}
	defer d.Close()
	seg, err := d.ImportSegment(3, segmentBytes)
	if err != nil {
		return err
	}
	m, err := d.Compile(device.Source{Name: "peer", Line: 1, Text: pingPong})
	if err != nil {
		return err
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	if err := s.Launch(m.Kernels()[0], turnsLaunch(seg, 1)); err != nil {
		return err
	}
	return s.Synchronize()
}

func turnsLaunch(seg device.Segment, mine uint32) device.Launch {
	words := []uint64{uint64(seg.Ptr()), uint64(seg.Ptr()) + 64, uint64(mine) | pingPongRounds<<32}
	return device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Args: bytesOf(words)}
}

func TestSharedSegment(t *testing.T) {
	b := open(t)
	seg, err := b.NewSegment(segmentBytes - 100)
	if err != nil {
		t.Fatal(err)
	}
	if seg.Size() != segmentBytes || seg.Ptr()%4096 != 0 {
		t.Errorf("size %d at %#x", seg.Size(), seg.Ptr())
	}
	if got := download[byte](b, seg.Ptr(), segmentBytes); slices.Max(got) != 0 {
		t.Error("not zeroed")
	}
	fd, err := seg.Export()
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Compile(device.Source{Name: "own", Line: 1, Text: pingPong})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	peer := exec.CommandContext(ctx, os.Args[0])
	peer.Env = append(os.Environ(), "SYMMREPL_TEST_PEER=1")
	peer.ExtraFiles = []*os.File{os.NewFile(uintptr(fd), "segment")}
	peer.Stderr = os.Stderr
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		err := peer.Wait()
		if err != nil {
			atomic.StoreUint32(&b.Watch().Abort, 1) // its turn will not come
		}
		ended <- err
	}()
	launched := b.stream.Launch(m.Kernels()[0], turnsLaunch(seg, 0))
	done := b.stream.Synchronize()
	if err := errors.Join(launched, done, <-ended); err != nil {
		t.Fatal(err)
	}
	peer.ExtraFiles[0].Close()
	const last = 2 * pingPongRounds
	if got := download[uint64](b, seg.Ptr()+64, 1)[0]; got != last*(last-1)/2 {
		t.Errorf("the turns add up to %d, want %d", got, last*(last-1)/2)
	}
}

func TestSegmentMisuse(t *testing.T) {
	b := open(t)
	seg, err := b.NewSegment(100)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := seg.Export()
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Ftruncate(fd, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("a segment can be shrunk: %v", err)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("an exported descriptor is inherited: flags %#x, %v", flags, err)
	}
	if _, err := b.ImportSegment(fd, 1<<20); err == nil {
		t.Error("a segment was imported that is smaller than claimed")
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); !errors.Is(err, unix.EBADF) {
		t.Error("a refused import has not consumed the descriptor")
	}
	plain, err := unix.MemfdCreate("plain", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Ftruncate(plain, 4096); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ImportSegment(plain, 4096); err == nil {
		t.Error("memory was imported that its owner can shrink")
	}
	if _, err := b.NewSegment(1 << 60); !errors.Is(err, device.ErrOutOfMemory) {
		t.Errorf("too large a segment: %v", err)
	}
	if _, err := b.Alloc(1 << 60); !errors.Is(err, device.ErrOutOfMemory) {
		t.Errorf("too large an allocation: %v", err)
	}
	if err := seg.Close(); err != nil {
		t.Error(err)
	}
	if err := seg.Close(); err != nil {
		t.Error(err)
	}
	p := b.alloc(10)
	if p%256 != 0 {
		t.Errorf("allocated at %#x", p)
	}
	if err := b.Free(p); err != nil {
		t.Error(err)
	}
	if err := b.Free(p); err == nil {
		t.Error("freed twice")
	}
}
