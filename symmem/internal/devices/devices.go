// Package devices has the table of the kinds of devices on which a world can run. To add a kind,
// write a package that implements [device.Device], and add a row here.
package devices

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Kind is a kind of device.
type Kind struct {
	Name     string       // "cuda"; Info.Kind of its devices
	Backends []Backend    // ways to make symmetric memory on it, the default first
	Count    func() int   // number of devices that this process could use
	Plan     *tuning.Plan // its tuning parameters
	Emulated bool         // by the host: any number of devices, without indices
	Settings []string     // environment variables that decide how worlds on it work

	// Open opens a device by its index. It writes notes to standard error unless quiet. The device makes
	// temporary files in the folder scratch, which outlives this process, or in the machine's if it is "".
	Open func(index int, scratch string, quiet bool) (device.Device, error)
	// Doctor describes what is found on this machine, one item per line.
	Doctor func() string
}

// kinds lists all kinds, the fastest first.
var kinds = []Kind{
	{Name: "cuda", Backends: []Backend{{Name: "CUDA", find: findCUDA}, {Name: "NCCL", find: findNCCL},
		{Name: "NVSHMEM", find: findNVSHMEM}}, Count: countGPUs, Open: cuda.Open, Plan: tuning.CUDA, Doctor: gpuDoctor,
		Settings: cudaSettings},
	{Name: "cpu", Backends: []Backend{{Name: "CPU", find: findCPU}}, Count: unlimited, Open: openCPU, Plan: tuning.CPU,
		Doctor: cpuDoctor, Emulated: true},
}

// All lists the kinds of devices, the fastest first.
func All() []Kind { return slices.Clone(kinds) }

// Best returns the fastest kind with at least one device.
func Best() *Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Count() > 0 })
	return &kinds[i] // the last kind always has one
}

// Assign returns the index of the device for a rank, given its number among the ranks of this host.
// If there are more ranks than devices, neighbours share a device, as evenly as possible. If ranks
// is 0, their number is not known, and devices are assigned in turn.
func (k *Kind) Assign(local, ranks int) int {
	n := 0
	if !k.Emulated {
		n = k.Count()
	}
	switch {
	case n == 0, local < n && ranks <= n:
		return local
	case local >= ranks:
		return local % n
	}
	return local * n / ranks
}

// Find returns the kind with a name, or the best one if the name is "" or "auto".
func Find(name string) (*Kind, error) {
	if name == "" || name == "auto" {
		return Best(), nil
	}
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i], nil
		}
	}
	names := []string{"auto"}
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	last := len(names) - 1
	hint := fmt.Sprintf(`"%s" and %q are`, strings.Join(names[:last], `", "`), names[last])
	return nil, &device.UnavailableError{Kind: name, Why: "there is no such kind of device", Hint: hint}
}

// Device returns the name of a device: "cuda:2" or "cpu".
func (k *Kind) Device(index int) string {
	if k.Emulated {
		return k.Name
	}
	return fmt.Sprintf("%s:%d", k.Name, index)
}

// Doctor describes where ranks run, and what all kinds find on this machine, one item per line.
func Doctor() string {
	var b strings.Builder
	b.WriteString(Best().chosen())
	for _, k := range kinds {
		b.WriteString(k.Doctor())
	}
	return b.String()
}

// chosen returns the line for the kind of device on which ranks run unless a flag asks for another;
// "" if they cannot run at all.
func (k *Kind) chosen() string {
	switch {
	case !k.Emulated:
		return "ranks     run on " + count.Of(k.Count(), "GPU") + "\n"
	case cpu.Supported() != nil:
		return ""
	}
	return "ranks     run on the cpu device, in the memory of this host\n"
}

func unlimited() int { return math.MaxInt }

func countGPUs() int {
	n, err := cuda.Count()
	if err != nil {
		return 0
	}
	return n
}

func openCPU(index int, _ string, _ bool) (device.Device, error) { return cpu.Open(index) }

func gpuDoctor() string { return cuda.Probe().String() }

func cpuDoctor() string {
	if err := cpu.Supported(); err != nil {
		return fmt.Sprintf("problem   %v\n", err)
	}
	c, err := cpu.FindCXX()
	if err != nil {
		return fmt.Sprintf("cpu device  without your own kernels: %v\n", err)
	}
	text := fmt.Sprintf("cpu device  ready, kernels compiled by %s (%s)\n", c, c.Why)
	if err := c.CanWatch(); err != nil {
		return text + fmt.Sprintf("            without --sanitize: %v\n", err)
	}
	return text
}
