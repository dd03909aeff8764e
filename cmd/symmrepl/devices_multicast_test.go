package main

import "testing"

// TestMulticast: ranks map their memory by multicast if each has its own GPU that supports it. If a
// step fails, they go on without multicast and Caps gives the reason.
func TestMulticast(t *testing.T) {
	t.Parallel()
	const cells = `t := symm.Empty(symm.F32, 1024); h := symm.Rendezvous(t); part := symm.Rendezvous(t.Slice(4, 8)); pair := symm.NewGroup(0, 1)
symm.Caps().Multicast, symm.Caps().MulticastWhy, h.MulticastPtr() != 0, int(part.MulticastPtr() - h.MulticastPtr())
symm.Rendezvous(t, pair).MulticastPtr() != h.MulticastPtr()
symm.MultimemAllReduce(t, "sum")
symm.DevComm(symm.DevReqs{Multimem: true, LsaBarriers: 1})
t.Free(); u := symm.Empty(symm.F32, 1<<20); symm.Rendezvous(u).MulticastPtr() != 0
v := symm.Empty(symm.F32, 4); symm.MultimemAllReduce(v, "sum")
`
	args := []string{"-n", "2", "--device", "cuda"}
	r := fakeGPUs(t, 2, "FAKE_CUDA_MULTICAST=1").run(cells, args...)
	inOrder(t, "the output", r.out, `[0,1] true, "", true, 16`+"\n", "[0,1] true\n", "symmetric",
		"[0,1] device communicator of world, DevReqs{LsaBarriers: 1, Multimem: true}\n", "[0,1] true\n", "symmetric")
	inOrder(t, "doctor", fakeGPUs(t, 2, "FAKE_CUDA_MULTICAST=1").run("", "doctor").out, "multicast  used\n")

	for _, c := range []struct {
		why  string
		gpus int
		env  []string
		args string
		want string
	}{
		{"a step that fails", 2, []string{"FAKE_CUDA_MULTICAST=1", "FAKE_CUDA_FAIL=cuMulticastBindMem=801"}, "",
			"has no multicast address: rank 0 could not map it: cuMulticastBindMem: "},
		{"an object that is not made", 2, []string{"FAKE_CUDA_MULTICAST=1", "FAKE_CUDA_FAIL=cuMulticastCreate=801"}, "",
			"has no multicast address: rank 0 could not map it: cuMulticastCreate: "},
		{"a shared GPU", 1, []string{"FAKE_CUDA_MULTICAST=1"}, "",
			"has no multicast address: ranks 0,1 share a GPU, in turns by time slices\n"},
		{"a variable", 2, []string{"FAKE_CUDA_MULTICAST=1", "NCCL_NVLS_ENABLE=0"}, "",
			"NVLink multicast is off: NCCL_NVLS_ENABLE=0 disables it\n"},
		{"devices without it", 2, nil, "", "NVLink multicast is off: the device does not support it\n"},
	} {
		r := fakeGPUs(t, c.gpus, c.env...).run(cells, args...)
		inOrder(t, c.why, r.out+r.err, ", false, 0\n", "[0,1] false\n", "multimem_all_reduce: ", c.want)
		inOrder(t, c.why+", of kernels", r.err, "DevComm: ", "hint: ncclLsaReduceSum and ncclLsaCopy do without it\n")
	}
}
