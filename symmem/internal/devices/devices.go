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
	Name    string                                 // "cuda"; Info.Kind of its devices
	Backend string                                 // how symmetric memory is made on it: "CUDA"
	Count   func() int                             // how many this process could use
	Open    func(index int) (device.Device, error) // device index of them
	Plan    *tuning.Plan                           // how it is best used
	Doctor  func() string                          // what it finds on this machine, one thing a line
	Only    bool                                   // it has one device, so that its name needs no number
}

// kinds are all there are, the quickest first.
var kinds = []Kind{
	{Name: "cuda", Backend: "CUDA", Count: countGPUs, Open: cuda.Open, Plan: tuning.CUDA, Doctor: func() string { return cuda.Probe().String() }},
	{Name: "cpu", Backend: "CPU", Count: func() int { return math.MaxInt }, Open: cpu.Open, Plan: tuning.CPU, Doctor: cpuDoctor, Only: true},
}

// absentBackends are known by name, and are not part of this build.
var absentBackends = []string{"NCCL", "NVSHMEM"}

// Names lists the kinds of devices, the quickest first.
func Names() []string { return each(func(k *Kind) string { return k.Name }) }

// Backends lists the back ends of the kinds, in the same order.
func Backends() []string { return each(func(k *Kind) string { return k.Backend }) }

// AbsentBackends lists back ends that are known by name and are not part of this build.
func AbsentBackends() []string { return slices.Clone(absentBackends) }

func each(f func(*Kind) string) []string {
	var list []string
	for i := range kinds {
		list = append(list, f(&kinds[i]))
	}
	return list
}

// Best is the quickest kind of which there is a device for each of so many ranks.
func Best(ranks int) *Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Count() >= ranks })
	return &kinds[i] // the last one is enough for any number
}

// Find returns the kind of a name, or the best one for a rank alone if that is "" or "auto".
func Find(name string) (*Kind, error) {
	if name == "" || name == "auto" {
		return Best(1), nil
	}
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i], nil
		}
	}
	names := append([]string{"auto"}, Names()...)
	slices.Sort(names)
	for i := range names {
		names[i] = fmt.Sprintf("%q", names[i])
	}
	last := len(names) - 1
	return nil, &device.UnavailableError{Kind: name, Why: "there is no such kind of device", Hint: strings.Join(names[:last], ", ") + " and " + names[last] + " are"}
}

// Device is "cuda:2" or "cpu".
func (k *Kind) Device(index int) string {
	if k.Only {
		return k.Name
	}
	return fmt.Sprintf("%s:%d", k.Name, index)
}

// Doctor describes what all kinds find on this machine, one thing a line.
func Doctor() string { return strings.Join(each(func(k *Kind) string { return k.Doctor() }), "") }

// GPUs is the number of GPUs that this process could use.
func GPUs() int { return countGPUs() }

func countGPUs() int {
	n, err := cuda.Count()
	if err != nil {
		return 0
	}
	return n
}

func cpuDoctor() string {
	path, err := cpu.Compiler()
	if err != nil {
		return fmt.Sprintf("cpu device  without your own kernels: %v\n", err)
	}
	return fmt.Sprintf("cpu device  ready, kernels compiled by %s\n", path)
}
