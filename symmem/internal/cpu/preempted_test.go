//go:build linux && (amd64 || arm64)

package cpu

import (
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// preemptSignal is the signal by which the monitor lets other threads of a block run: SIGRTMAX - 3.
const preemptSignal = unix.Signal(61)

// Every thread of a block runs once, wherever the signal finds the thread that runs: in the kernel, between
// two threads, or at the end of the block.
func TestPreemptedThreads(t *testing.T) {
	b := open(t)
	kernels := b.compile(`
__global__ void plain(int* n) { n[blockIdx.x * blockDim.x + threadIdx.x]++; }
__global__ void waits(int* n) {
  int* const mine = n + blockIdx.x * blockDim.x + threadIdx.x;
  ++*mine;
  __syncthreads();
  *mine += 2;
}
__global__ void some_wait(int* n) {
  int* const mine = n + blockIdx.x * blockDim.x + threadIdx.x;
  ++*mine;
  if (threadIdx.x >= blockDim.x - 32) __syncwarp();
  *mine += 2;
}`)
	ended := make(chan struct{})
	signalled := make(chan int)
	go func() {
		sent := 0
		for {
			select {
			case <-ended:
				signalled <- sent
				return
			default:
			}
			tasks, _ := os.ReadDir("/proc/self/task")
			for range 50 {
				for _, task := range tasks {
					if id, _ := strconv.Atoi(task.Name()); unix.Tgkill(os.Getpid(), id, preemptSignal) == nil {
						sent++
					}
				}
			}
		}
	}()
	const all, most = 1 << 19, 500 // threads of a launch, launches
	for _, c := range []struct {
		kernel string
		block  int
		each   int32 // what a thread adds
	}{{"plain", 1024, 1}, {"plain", 2, 1}, {"waits", 1024, 3}, {"waits", 2, 3}, {"some_wait", 1024, 3}} {
		n := b.alloc(4 * all)
		launches := int32(0)
		for end := time.Now().Add(time.Second); launches < most && time.Now().Before(end); launches++ {
			b.launch(kernels[c.kernel], all/c.block, c.block, n)
			b.sync()
		}
		for i, v := range download[int32](b, n, all) {
			if v != c.each*launches {
				t.Errorf("%s, block %d of %d threads, thread %d: %d after %d launches, want %d", c.kernel, i/c.block, c.block,
					i%c.block, v, launches, c.each*launches)
				break
			}
		}
		b.Free(n)
	}
	close(ended)
	if <-signalled == 0 {
		t.Error("no signal was sent")
	}
}
