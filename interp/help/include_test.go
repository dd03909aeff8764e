package help

import "testing"

// TestIncludeHint checks which header is named for a name that the compilers of kernels do not find.
func TestIncludeHint(t *testing.T) {
	for msg, want := range map[string]string{
		"'multimem_sum' is not a member of 'symm'":             "symm::multimem_sum needs #include <nccl_device.h>",
		`namespace "symm" has no member "multimem_sum"`:        "symm::multimem_sum needs #include <nccl_device.h>",
		"no member named 'multimem_sum' in namespace 'symm'":   "symm::multimem_sum needs #include <nccl_device.h>",
		"'ncclTeamLsa' was not declared in this scope":         "ncclTeamLsa needs #include <nccl_device.h>",
		`identifier "nvshmem_my_pe" is undefined`:              "nvshmem_my_pe needs #include <nvshmem.h>",
		"use of undeclared identifier 'nvshmemx_putmem_block'": "nvshmemx_putmem_block needs #include <nvshmem.h>",
		"'nothing' is not a member of 'symm'":                  "",
		"'barrier' is not a member of 'symm'":                  "",
		"expected ';' before '}' token":                        "",
	} {
		if got := IncludeHint(msg); got != want {
			t.Errorf("%s: the hint is %q, want %q", msg, got, want)
		}
	}
}
