package symmem

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
)

// Capabilities describes this rank's device, back end and world.
type Capabilities struct {
	Backend      string          // "CPU", "CUDA", "NCCL" or "NVSHMEM"
	Backends     []BackendStatus // all there are
	Device       string          // "cuda:2"
	Name         string          // "NVIDIA H200"
	Arch         string          // "sm_90"
	Driver       string          // driver and compiler, in words
	Processors   int
	Memory       uint64 // bytes
	MaxThreads   int    // a block
	SharedMemory int    // bytes a block
	Multicast    bool
	MulticastWhy string  // why not
	Hosts        [][]int // the ranks of the world by host
	Simulated    bool    // the hosts are
	// the ranks of the world that map each other's memory: the hosts, or parts of a host whose GPUs
	// cannot map each other's
	Parts     [][]int
	Between   string  // the network between hosts, and between such parts: "UCX 1.22.0", "the null network", or "nothing"
	Sharing   Sharing // of GPUs by several ranks
	MaxRanks  int     // of a host
	Channels  int     // of the world
	SignalPad int     // bytes, of tensors made from now on
}

// Caps describes this rank's device, back end and world.
func (rt *Runtime) Caps() Capabilities {
	i := rt.info
	f := rt.core.Facts()
	return Capabilities{
		Hosts: f.Hosts, Simulated: f.Simulated, Parts: f.Parts, Between: f.Between, Sharing: rt.Sharing(),
		Backend: rt.Backend(), Backends: rt.Backends(), Device: rt.DeviceName(), Name: i.Name, Arch: i.Arch, Driver: i.Driver,
		Processors: i.Processors, Memory: i.Memory,
		MaxThreads: i.MaxThreads, SharedMemory: i.SharedPerBlock, Multicast: i.Multicast, MulticastWhy: i.MulticastWhy,
		MaxRanks: MaxRanks, Channels: rt.Group().Channels(), SignalPad: rt.SignalPadSize(),
	}
}

// String is one capability a line.
func (c Capabilities) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("back end", "%s", c.Backend)
	for _, b := range c.Backends {
		line("  "+b.Name, "%s", strings.TrimPrefix(b.String(), b.Name+": "))
	}
	line("device", "%s: %s, %s", c.Device, c.Name, c.Arch)
	line("driver", "%s", c.Driver)
	line("memory", "%.1f GiB", float64(c.Memory)/(1<<30))
	line("processors", "%d", c.Processors)
	line("block", "%d threads, %d bytes of shared memory", c.MaxThreads, c.SharedMemory)
	if c.Multicast {
		line("multicast", "yes")
	} else {
		line("multicast", "no: %s", c.MulticastWhy)
	}
	if len(c.Hosts) > 1 {
		sort := ""
		if c.Simulated {
			sort = "simulated, "
		}
		line("hosts", "%d, %swith the ranks %s; %s carries traffic between them", len(c.Hosts), sort, places.Spelled(c.Hosts), c.Between)
	}
	if len(c.Parts) > len(c.Hosts) {
		line("LSA teams", "%d, as not all GPUs of a host can map each other's memory, with the ranks %s; %s carries traffic between them", len(c.Parts), places.Spelled(c.Parts), c.Between)
	}
	if len(c.Sharing.Ranks) > 0 {
		line("sharing", "%s", c.Sharing)
	}
	line("groups", "%d ranks of a host at most, %d channels in the world", c.MaxRanks, c.Channels)
	line("signal pad", "%d bytes a tensor", c.SignalPad)
	return strings.TrimSuffix(b.String(), "\n")
}
