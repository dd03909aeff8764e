package symmem_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// A world of one rank on the cpu device. With more ranks, each with a bootstrap client in its
// Config, the same program runs on all of them.
func Example() {
	world, err := symmem.Init(symmem.Config{Device: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer world.Close()

	t := symmem.Empty(symmem.BF16, 4).Fill(symmem.Rank() + 1)
	h := symmem.Rendezvous(t)
	fmt.Println("sum:", symmem.OneShotAllReduce(t, "sum").Float32s())

	scale := symmem.Compile(`
extern "C" __global__ void scale(symm::Handle h, float a) {
  symm::bf16* mine = h.buffer<symm::bf16>(h.rank);
  mine[threadIdx.x] = symm::to_bf16(a * symm::to_float(mine[threadIdx.x]));
}`)
	scale.Launch(symmem.Grid(1), symmem.Block(4), h, float32(2.5))
	fmt.Println(t)
	// Output:
	// sum: [1 1 1 1]
	// bf16[4] on cpu, symmetric [2.5 2.5 2.5 2.5]
}

// A wait that never ends costs a message: it has a deadline, or is aborted from outside, and names
// the waiting rank and the awaited signal.
func ExampleMaybe() {
	world, err := symmem.Init(symmem.Config{Device: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer world.Close()

	h := symmem.Rendezvous(symmem.Empty(symmem.F32, 4))
	err = symmem.Maybe(func() {
		h.WaitSignal(0, 3, symmem.Timeout(50*time.Millisecond))
		symmem.Synchronize()
	})
	var e *symmem.Error
	if errors.As(err, &e) {
		fmt.Println(e.Kind, e.Op, e.Peer, e.Hint)
	}
	// Output: timeout wait_signal 0 rank 0 must put it
}
