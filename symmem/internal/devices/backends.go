package devices

import (
	"errors"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Backend is a way to make symmetric memory.
type Backend struct {
	Name string // PyTorch's name: "NCCL"
	find func() Finding
}

// Finding describes what this machine has for a back end.
type Finding struct {
	Why      string   // why it cannot be used; empty if it can
	Hint     string   // how to change that
	Version  string   // version of its library, empty without one
	Features []string // features of the library
}

// Find checks whether this machine has what the back end needs. It opens libraries to get their
// versions and functions, and creates nothing on a device.
func (b Backend) Find() Finding { return b.find() }

// Backend returns the back end with a name, if devices of this kind have it.
func (k *Kind) Backend(name string) (b Backend, ok bool) {
	i := slices.IndexFunc(k.Backends, func(b Backend) bool { return b.Name == name })
	if i < 0 {
		return Backend{}, false
	}
	return k.Backends[i], true
}

// OfBackend returns the kind of device of a back end, or nil if there is no back end with that
// name.
func OfBackend(name string) *Kind {
	for i := range kinds {
		if _, ok := kinds[i].Backend(name); ok {
			return &kinds[i]
		}
	}
	return nil
}

func findCPU() Finding {
	if err := cpu.Supported(); err != nil {
		return unavailable(err)
	}
	return Finding{}
}

func findCUDA() Finding {
	if _, err := cuda.Count(); err != nil {
		return unavailable(err)
	}
	return Finding{}
}

func findNCCL() Finding {
	l, err := cuda.NCCL()
	if err != nil {
		return unavailable(err)
	}
	f := findCUDA()
	f.Version, f.Features = l.Version(), l.Features()
	return f
}

func findNVSHMEM() Finding {
	l, err := cuda.SHMEM()
	if err != nil {
		return unavailable(err)
	}
	f := findCUDA()
	f.Version, f.Features = l.Version(), []string{"heap", "puts", "signals"}
	return f
}

// unavailable returns the finding for an error.
func unavailable(err error) Finding {
	f := Finding{Why: err.Error()}
	var un *device.UnavailableError
	if errors.As(err, &un) {
		f.Why, f.Hint = un.Why, un.Hint
	}
	return f
}
