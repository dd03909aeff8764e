package symmem

import (
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/argstest"
)

// TestArguments holds the arguments of the operators' kernels to what the kernels declare.
func TestArguments(t *testing.T) {
	argstest.Check(t, map[string]uintptr{
		"one_shot_all_reduce": unsafe.Sizeof(packetArgs{}),
		"two_shot_all_reduce": unsafe.Sizeof(packetArgs{}),
		"two_shot_lines":      unsafe.Sizeof(lineArgs{}),
		"two_shot_chunks":     unsafe.Sizeof(chunkArgs{}),
		"pull_reduce":         unsafe.Sizeof(pullArgs{}),
		"multimem_reduce":     unsafe.Sizeof(multimemArgs{}),
		"multimem_all_gather": unsafe.Sizeof(multimemGatherArgs{}),
		"matmul":              unsafe.Sizeof(matMulArgs{}),
		"exchange":            unsafe.Sizeof(exchangeArgs{}),
		"all_to_all_vdev":     unsafe.Sizeof(vdevArgs{}),
		"permute":             unsafe.Sizeof(permuteArgs{}),
		"tile_reduce":         unsafe.Sizeof(tileArgs{}),
	}, []string{"barrier", "put_signal", "wait_signal", "put_with_signal", "wait_for_signal", "fill", "arange", "rand", "copy_rows", "pool_meet"})
}
