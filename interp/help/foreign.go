package help

import (
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/docs"
)

// Other libraries have names for what symmem does. They are found without a prefix and in their
// spelling; foreignNames has those that differ in more.

// foreignPrefixes are what precedes the names in programs, the longest first.
var foreignPrefixes = []string{
	"torch.ops.symm_mem.", "torch.distributed._symmetric_memory.", "torch.distributed._functional_collectives.",
	"torch.distributed.", "torch.cuda.", "torch.",
	"_SymmetricMemory.", "symm_mem.", "funcol.", "dist.", "nccl",
}

// foreignNames has functions of PyTorch and NCCL by their names without a prefix. Those of NVSHMEM are
// in package reference.
var foreignNames = map[string]string{
	"rendezvous": "Rendezvous", "is_symm_mem_enabled": "Caps", "enable_symm_mem_for_group": "Rendezvous",
	"set_backend": "SetBackend", "get_backend": "GetBackend", "is_nvshmem_available": "IsNvshmemAvailable",
	"all_gather_into_tensor": "AllGather", "reduce_scatter_tensor": "ReduceScatter", "all_to_all_single": "AllToAll",
	"get_rank": "Rank", "get_world_size": "WorldSize",
	"new_group": "NewGroup", "synchronize": "Synchronize", "isend": "Handle.Put", "send": "Handle.Put",
	"irecv": "Handle.WaitForSignal", "recv": "Handle.WaitForSignal",
	"zeros": "Empty", "mm": "MatMul", "matmul": "MatMul", "_scaled_mm": "Scales", "scaled_mm": "Scales", "allclose": "AllClose",
	"Work":                    "Async",
	"fused_all_gather_matmul": "AllGatherMatMul", "fused_all_gather_scaled_matmul": "AllGatherMatMul",
	"_low_contention_all_gather":  "CopyEngine",
	"fused_matmul_reduce_scatter": "MatMulReduceScatter", "fused_scaled_matmul_reduce_scatter": "MatMulReduceScatter",
	"_low_contention_reduce_scatter": "CopyEngine",
	"Bcast":                          "Broadcast", "MemAlloc": "Empty", "MemFree": "Tensor.Free", "CommSplit": "NewGroup",
	"CommUserRank": "Rank", "CommCount": "WorldSize",
	"Send": "Handle.Put", "Recv": "Handle.WaitForSignal", "CommWindowRegister": "Window", "DevCommCreate": "DevComm",
	"AlltoAll": "AllToAll", "AllToAll": "AllToAll",
}

// foreignDoc returns the documentation of what does in symmem what a function of another library
// does there.
func foreignDoc(arg string) (string, bool) {
	bare := arg
	for _, prefix := range foreignPrefixes {
		if rest, ok := strings.CutPrefix(arg, prefix); ok && rest != "" {
			bare = rest
			break
		}
	}
	name := strings.TrimSuffix(bare, "_") // two_shot_all_reduce_
	for _, n := range []string{foreignNames[bare], foreignNames[name]} {
		if decl, text, ok := docs.Lookup(check.SymmemPath, n); ok && n != "" {
			return entry(decl, text) + docMethods(check.SymmemPath, n), true
		}
	}
	for _, n := range []string{bare, name, "Handle." + name, "Tensor." + name} {
		if text, ok := folded(check.SymmemPath, n); ok {
			return text, true
		}
	}
	return "", false
}
