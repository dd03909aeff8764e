// Package devices is the table of the kinds of devices that a world can run on. A new kind is a package that implements
// [device.Device], and a row here.
package devices

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Kind is a kind of device.
type Kind struct {
	Name     string       // "cuda"; Info.Kind of its devices
	Backends []Backend    // how symmetric memory can be made on it, the default first
	Count    func() int   // how many devices this process could use
	Plan     *tuning.Plan // how it is best used
	Emulated bool         // by the host: there are as many as one likes, without numbers

	// Open opens a device by its index. What there is to note goes to the standard error unless quiet.
	Open func(index int, quiet bool) (device.Device, error)
	// Doctor says what is found on this machine, one thing a line.
	Doctor func() string
}

// kinds are all there are, the quickest first.
var kinds = []Kind{
	{Name: "cuda", Backends: []Backend{{Name: "CUDA", find: findCUDA}, {Name: "NCCL", find: findNCCL}, {Name: "NVSHMEM"}}, Count: countGPUs, Open: cuda.Open, Plan: tuning.CUDA, Doctor: gpuDoctor},
	{Name: "cpu", Backends: []Backend{{Name: "CPU", find: findCPU}}, Count: unlimited, Open: openCPU, Plan: tuning.CPU, Doctor: cpuDoctor, Emulated: true},
}

// All lists the kinds of devices, the quickest first.
func All() []Kind { return slices.Clone(kinds) }

// Best is the quickest kind of which there is a device.
func Best() *Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Count() > 0 })
	return &kinds[i] // of the last one there always is
}

// Assign returns the index of the device for a rank, by its number among the ranks of this host: if these are more than the devices, neighbours share
// one, as evenly as they can. ranks is 0 if it is not known how many there are: then the devices are dealt out in turn.
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

// Find returns the kind of a name, or the best one if that is "" or "auto".
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

// Device is "cuda:2" or "cpu".
func (k *Kind) Device(index int) string {
	if k.Emulated {
		return k.Name
	}
	return fmt.Sprintf("%s:%d", k.Name, index)
}

// Doctor describes what all kinds find on this machine, one thing a line.
func Doctor() string {
	var b strings.Builder
	for _, k := range kinds {
		b.WriteString(k.Doctor())
	}
	return b.String()
}

func unlimited() int { return math.MaxInt }

func countGPUs() int {
	n, err := cuda.Count()
	if err != nil {
		return 0
	}
	return n
}

func openCPU(index int, _ bool) (device.Device, error) { return cpu.Open(index) }

func gpuDoctor() string { return cuda.Probe().String() }

func cpuDoctor() string {
	path, err := cpu.Compiler()
	if err != nil {
		return fmt.Sprintf("cpu device  without your own kernels: %v\n", err)
	}
	text := fmt.Sprintf("cpu device  ready, kernels compiled by %s\n", path)
	if err := cpu.CanWatch(path); err != nil {
		return text + fmt.Sprintf("            without --sanitize: %v\n", err)
	}
	return text
}
