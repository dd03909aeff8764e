package symmem

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// torchVariable is PyTorch's choice of a back end, which worlds on GPUs take over.
const torchVariable = "TORCH_SYMMMEM"

// BackendStatus is a back end of symmetric memory, and whether it can be used.
type BackendStatus struct {
	Name      string   // "NCCL"
	Device    string   // the kind of devices that it is for: "cuda"
	Available bool     // whether it can be used here
	Why       string   // why not
	Hint      string   // the remedy
	Version   string   // of the library that it uses, empty without one: "2.28.9"
	Features  []string // that the library has, as its functions tell: "windows"
}

// String is, for example, "NCCL: 2.28.9, with collectives, windows" or "NVSHMEM: no, NVSHMEM was not
// found".
func (b BackendStatus) String() string {
	words := []string{}
	if !b.Available {
		words = append(words, "no, "+b.Why)
		if b.Hint != "" {
			words[0] += " (" + b.Hint + ")"
		}
	}
	if b.Version != "" {
		words = append(words, b.Version)
	}
	if b.Available && len(b.Features) > 0 {
		words = append(words, "with "+strings.Join(b.Features, ", "))
	}
	if len(words) == 0 {
		words = []string{"yes"}
	}
	return b.Name + ": " + strings.Join(words, ", ")
}

// Backends lists all back ends, and says which a world on this kind of device can use on this
// machine, and of the zero DeviceKind which a world on the device that it is for can. Libraries are
// opened to ask for their versions and functions; nothing is created on a device.
func (k DeviceKind) Backends() []BackendStatus {
	var list []BackendStatus
	for _, kind := range devices.All() {
		for _, b := range kind.Backends {
			s := BackendStatus{Name: b.Name, Device: kind.Name}
			if k.Name == "" || k.Name == kind.Name {
				f := b.Find()
				s.Why, s.Hint, s.Version, s.Features = f.Why, f.Hint, f.Version, f.Features
			} else {
				s.Why, s.Hint = fmt.Sprintf("it needs the %s device, this is %s", kind.Name, k.Name), "start with --device "+kind.Name
			}
			s.Available = s.Why == ""
			list = append(list, s)
		}
	}
	return list
}

// Backends lists all back ends, and says which this world can use: see [BackendStatus]. Libraries
// are opened to ask for their versions and functions.
func (rt *Runtime) Backends() []BackendStatus { return DeviceKind{Name: rt.kind.Name}.Backends() }

// IsNvshmemAvailable reports whether this machine has a GPU and a library for the back end NVSHMEM;
// if it has not, [Runtime.Backends] says why. A world may refuse the back end all the same: see
// [Runtime.SetBackend].
//
// PyTorch: is_nvshmem_available
func (rt *Runtime) IsNvshmemAvailable() bool {
	return slices.ContainsFunc(rt.Backends(), func(b BackendStatus) bool { return b.Name == "NVSHMEM" && b.Available })
}

// Backend returns the name of the back end that makes symmetric memory: "CUDA", "NCCL" or "NVSHMEM"
// on GPUs, "CPU" on the cpu device.
func (rt *Runtime) Backend() string { return rt.core.Backend() }

// SetBackend chooses how symmetric memory is made, before the first symmetric tensor is: "CUDA", by
// the driver; "NCCL", by the driver and as windows of NCCL, whose collectives are quicker on them,
// with communicators that are made with a group's first handle; "NVSHMEM", from its heap, of which
// all ranks become members with their first tensor; or "CPU". NCCL makes windows from 2.30.7 on:
// kernels on windows of earlier versions cannot be ended or may be silently wrong. A program may
// also choose by Config.Backend, a session by --backend, and both by TORCH_SYMMMEM on GPUs.
// Backends lists the back ends.
//
// NVSHMEM needs a GPU for each rank, all on one host. Its heap has the tensors that Empty makes for
// the group of all ranks; the driver makes the memory of other groups and of memory pools.
//
// It is collective over all ranks, which must give the same name. A name that no rank of this kind
// of device can use is refused at once.
func (rt *Runtime) SetBackend(name string) {
	const op = "SetBackend"
	rt.core.RefuseClosed(op)
	if err := refuseBackend(rt.kind, rt.DeviceName(), rt.core.Misuse(op, "name", "", ""), "use", name); err != nil {
		panic(err)
	}
	rt.core.SetBackend(op, name, func() error { return findBackend(rt.kind, rt.core.Misuse(op, "name", "", ""), name) })
}

// refuseBackend completes e with the reason why devices of a kind have no back end of that name; it
// returns nil if they have. use says how to choose another one.
func refuseBackend(kind *devices.Kind, device string, e *Error, use, name string) error {
	if _, ok := kind.Backend(name); ok {
		return nil
	}
	var names []string
	for _, b := range kind.Backends {
		names = append(names, b.Name)
	}
	last := len(names) - 1
	e.Hint = use + " " + strings.TrimPrefix(strings.Join(names[:last], ", ")+" or "+names[last], " or ")
	if other := devices.OfBackend(name); other != nil {
		e.Hint += ", or start with --device " + other.Name
		e.Msg = fmt.Sprintf("the back end %s needs the %s device, this is %s", name, other.Name, device)
	} else {
		e.Msg = fmt.Sprintf("there is no back end %q", name)
	}
	return e
}

// findBackend completes e with the reason why this machine cannot run a back end of a kind; it
// returns nil if it can.
func findBackend(kind *devices.Kind, e *Error, name string) error {
	b, _ := kind.Backend(name)
	f := b.Find()
	if f.Why == "" {
		return nil
	}
	e.Kind, e.Msg, e.Hint = KindSystem, fmt.Sprintf("the back end %s cannot be used: %s", name, f.Why), f.Hint
	return e
}

// chosenBackend is the back end of a world on a device of a kind: the one that config asks for, or
// else PyTorch's variable, which is about GPUs, or else the kind's default.
func chosenBackend(kind *devices.Kind, device string, rank int, config Config) (string, error) {
	e := &Error{Kind: KindMisuse, Op: "Init", Rank: rank, Peer: -1, Arg: "Backend"}
	name, use := config.Backend, "set Config.Backend to"
	if config.Caller != nil { // a session
		use = "start with --backend"
	}
	torch := name == "" && !kind.Emulated && os.Getenv(torchVariable) != ""
	if torch {
		name, use = os.Getenv(torchVariable), "set "+torchVariable+" to"
	}
	name = cmp.Or(name, kind.Backends[0].Name)
	err := refuseBackend(kind, device, e, use, name)
	if err == nil && name != kind.Backends[0].Name { // which the device needs itself
		err = findBackend(kind, e, name)
	}
	if err != nil && torch {
		e.Msg += "; " + torchVariable + " asks for it"
		e.Hint += ", or unset " + torchVariable
	}
	return name, err
}
