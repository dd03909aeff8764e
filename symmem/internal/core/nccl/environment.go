package nccl

import (
	"fmt"
	"os"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Environment returns the environment that NCCL needs here. oneMachine says that all ranks are on
// one machine; simulatedHost is the number of this rank's simulated host, -1 if hosts are real.
func Environment(oneMachine bool, simulatedHost int) []string {
	// Calls then find all connections made, and a capture maps no memory of peers': that waits for
	// kernels, which may wait for this rank. Windows are mapped when they are registered, but a
	// captured all-to-all of one and other memory hangs unless their own registration is off, too.
	s := []string{"NCCL_RUNTIME_CONNECT=0", "NCCL_GRAPH_REGISTER=0", "NCCL_LOCAL_REGISTER=0"}
	if device.MulticastDisabled(os.Getenv) != "" {
		s = append(s, "NCCL_NVLS_ENABLE=0")
	}
	if oneMachine {
		s = append(s, "NCCL_SOCKET_IFNAME=lo")
	}
	if simulatedHost >= 0 { // ranks of different hosts must not find each other's memory
		s = append(s, fmt.Sprintf("NCCL_HOSTID=symmrepl-host-%d", simulatedHost), "NCCL_MNNVL_ENABLE=0")
	}
	return s
}
