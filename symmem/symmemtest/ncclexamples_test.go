package symmemtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// ncclExamplesVariable names the folder docs/examples of NCCL's sources, of version 2.30 or later.
const ncclExamplesVariable = "SYMMREPL_NCCL_EXAMPLES"

// TestNCCLExamples runs NCCL's own kernels, unchanged, with all ranks on one host, on two hosts,
// and each on its own host.
func TestNCCLExamples(t *testing.T) {
	if os.Getenv(ncclExamplesVariable) == "" {
		t.Skip(ncclExamplesVariable + " does not name the folder docs/examples of NCCL's sources; make test-long fetches them")
	}
	for _, device := range devices(t) {
		for _, d := range []division{{4, 1, "null"}, {4, 2, "null"}, {4, 4, "null"}, {2, 1, "null"}, {2, 2, "null"}} {
			t.Run(fmt.Sprintf("%s/%dranks/%dhosts", device, d.ranks, d.hosts), func(t *testing.T) {
				needRanks(t, device, d.ranks)
				startOn(t, device, d.ranks, strconv.Itoa(d.hosts), d.network).run(t, "NcclExamples")
			})
		}
	}
}

var (
	exampleKernel = regexp.MustCompile(`(?ms)^__global__ void (\w+)\(.*?^}\n`)
	exampleNorm   = regexp.MustCompile(`(?ms)^__device__ __forceinline__ void blockRMSNorm\(.*?^}\n`)
)

// exampleText returns the device code of one of NCCL's examples. A type parameter T becomes float.
func (t *T) exampleText(example string) string {
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(os.Getenv(ncclExamplesVariable), path))
		if err != nil {
			t.Fatalf("%v", err)
		}
		return string(text)
	}
	norm := exampleNorm.FindString(read("07_kernel_fusion/include/rmsnorm_utils.cuh"))
	kernel := exampleKernel.FindString(read(example + "/c/main.cu"))
	if norm == "" || kernel == "" {
		t.Fatalf("%s has no kernel that is known", example)
	}
	return "#include <nccl_device.h>\ntypedef float T;\n" + norm + kernel
}

func ncclExamplesCase(t *T) {
	const blocks, threads, n = 4, 64, 240
	timeout := symmem.Timeout(30 * time.Second)
	oneHost := symmem.LSA().Size() == t.size
	send, recv := symmem.Empty(symmem.F32, t.size*n), symmem.Empty(symmem.F32, t.size*n)
	sends, recvs := symmem.Window(send), symmem.Window(recv)
	launch := func(example string, reqs symmem.DevReqs, args func(comm *symmem.DeviceComm) []any) {
		comm := symmem.DevComm(reqs)
		symmem.Synchronize()
		symmem.Meet()
		symmem.Compile(t.exampleText(example)).Launch(symmem.Grid(blocks), symmem.Block(threads), append(args(comm), timeout)...)
		symmem.Synchronize()
		symmem.Meet()
		comm.Free()
	}
	buffers := func(comm *symmem.DeviceComm) []any { return []any{sends, 0, recvs, 0, n, comm} }
	if oneHost {
		send.Fill(t.rank + 1)
		launch("06_device_api/01_allreduce_lsa", symmem.DevReqs{LsaBarriers: blocks}, buffers)
		for i, v := range recv.Slice(0, n).Ints() {
			if v != t.size*(t.size+1)/2 {
				t.Fatalf("element %d of the all-reduce is %d", i, v)
			}
		}
	}
	gin, hybrid := symmem.DevReqs{WorldGinBarriers: blocks, GinSignals: blocks}, symmem.DevReqs{Barriers: blocks, GinSignals: blocks}
	for _, c := range []struct {
		example string
		reqs    symmem.DevReqs
	}{{"06_device_api/02_alltoall_gin", gin}, {"06_device_api/03_alltoall_hybrid", hybrid}} {
		values, want := make([]int, t.size*n), make([]int, t.size*n)
		for i := range values {
			values[i], want[i] = 10000*t.rank+i, 10000*(i/n)+t.rank*n+i%n
		}
		send.CopyFrom(values)
		recv.Fill(-1)
		launch(c.example, c.reqs, buffers)
		t.equal(c.example, recv.Ints(), want)
	}
	for _, c := range []struct {
		example string
		reqs    symmem.DevReqs
		one     bool // takes one window, and runs on one host
	}{
		{"07_kernel_fusion/01_rmsnorm_lsa", symmem.DevReqs{LsaBarriers: blocks}, true}, {"07_kernel_fusion/03_rmsnorm_gin", gin, false},
		{"07_kernel_fusion/04_rmsnorm_hybrid", hybrid, false},
	} {
		if c.one && !oneHost {
			continue
		}
		hidden := n / blocks
		values, want := make([]float32, t.size*n), make([]float32, t.size*n)
		for i := range values {
			want[i] = float32(1 - 2*(i%3%2))
			values[i] = want[i]
			if t.rank == 0 {
				values[i] *= float32(4 - (t.size - 1)) // the shares of all ranks add up to 4
			}
		}
		send.CopyFrom(values)
		launch(c.example, c.reqs, func(comm *symmem.DeviceComm) []any {
			args := []any{sends, recvs, comm, t.size * blocks, hidden, float32(0), symmem.SharedBytes(4 * threads)}
			if c.one {
				args = append(args[:1], args[2:]...)
			}
			return args
		})
		t.equal(c.example, send.Float32s(), want)
	}
	send.Free()
	recv.Free()
}
