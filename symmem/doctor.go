package symmem

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// Doctor describes this machine, one fact a line: the driver, the GPUs and their links, the
// libraries, the compiler of the cpu device; the missing ones, and how to get them. It needs no
// Runtime.
func Doctor() string {
	backends := ""
	for _, b := range (DeviceKind{}).Backends() {
		backends += fmt.Sprintf("back end   %v\n", b)
	}
	return devices.Doctor() + backends + "hosts     ranks share memory within a host; " + networks.Carrier() +
		" carries traffic between hosts; between simulated ones, --net null needs no library\n" + doctorSettings()
}

// doctorSettings returns the line about settings that the device of choice ignores, "" if there are
// none.
func doctorSettings() string {
	if note := ignoredNote(devices.Best()); note != "" {
		return "settings  " + note + "\n"
	}
	return ""
}

// Note is a remark for the start of a session: about ranks that share a GPU, or about settings in the
// environment that this device ignores; "" if there is none.
func (rt *Runtime) Note() string {
	return cmp.Or(rt.Sharing().Note(), ignoredNote(rt.kind))
}

// ignoredNote returns a remark about settings in the environment that a kind of device ignores, "" if
// there are none.
func ignoredNote(kind *devices.Kind) string {
	ignored := kind.Ignored(os.Getenv)
	if len(ignored) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: for GPUs, without effect on the %s device (unset it, or start with --device cuda)",
		strings.Join(ignored, ", "), kind.Name)
}

// DeviceKind is a kind of device that worlds of this build can run on.
type DeviceKind struct {
	Name     string   // as Config.Device has it: "cuda"
	Names    []string // of its back ends, the default first: "CUDA"
	Emulated bool     // by the host's memory and processors: for learning and tests, in any number
}

// DeviceKinds lists the kinds of devices, the quickest first.
func DeviceKinds() []DeviceKind {
	var list []DeviceKind
	for _, k := range devices.All() {
		kind := DeviceKind{Name: k.Name, Emulated: k.Emulated}
		for _, b := range k.Backends {
			kind.Names = append(kind.Names, b.Name)
		}
		list = append(list, kind)
	}
	return list
}

// GPUs is the number of GPUs this process could use.
func GPUs() int {
	n := 0
	for _, k := range devices.All() {
		if !k.Emulated {
			n += k.Count()
		}
	}
	return n
}

// Top says in one line how much device memory this rank holds and, where it is measured, how busy
// the device is.
func (rt *Runtime) Top() (string, error) {
	if err := rt.open("Top"); err != nil {
		return "", err
	}
	held := fmt.Sprintf("%s: %s held by this rank", rt.DeviceName(), sized(rt.core.Facts().Held))
	d, ok := rt.dev.(device.Monitored)
	if !ok {
		return held, nil
	}
	text, err := d.Top()
	if err != nil {
		return held, err
	}
	return held + "; " + text, nil
}

// open is the error of a call after Close.
func (rt *Runtime) open(op string) error {
	return Maybe(func() { rt.core.RefuseClosed(op) })
}

// Held counts the symmetric tensors that are alive on this rank, such as "2 symmetric tensors (1.5
// MiB on each rank)"; "" if there are none.
func (rt *Runtime) Held() string {
	switch f := rt.core.Facts(); f.Tensors {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 symmetric tensor (%s on each rank)", sized(f.TensorBytes))
	default:
		return fmt.Sprintf("%d symmetric tensors (%s on each rank)", f.Tensors, sized(f.TensorBytes))
	}
}

// Topology describes how a device reaches the other devices of its host: by one medium that all of
// them share, or by a link to each; and the network between hosts.
type Topology struct {
	Device  string // "cuda:2"
	ID      string // the UUID of a GPU
	Medium  string // "shared memory of this host"
	Links   []Link
	Host    int    // the rank's, from 0 on
	Part    int    // the rank's of Capabilities.Parts
	Between string // the network between hosts and parts, "" if there is one part
	Sharers []int  // the ranks that use the same GPU, this one among them; nil if it has one of its own
	Manner  string // how their kernels run: Sharing.Manner; "" without others
}

// Link connects a device with another one of its host.
type Link = device.Link

// Topology describes how this rank's device reaches the other devices of its host.
func (rt *Runtime) Topology() (Topology, error) {
	if err := rt.open("Topology"); err != nil {
		return Topology{}, err
	}
	t := Topology{Device: rt.DeviceName()}
	mine := func(ranks []int) bool { return slices.Contains(ranks, rt.Rank()) }
	if f := rt.core.Facts(); len(f.Parts) > 1 {
		t.Host, t.Part, t.Between = slices.IndexFunc(f.Hosts, mine), slices.IndexFunc(f.Parts, mine), f.Between
	}
	s := rt.Sharing()
	if t.Sharers = s.With(rt.Rank()); t.Sharers != nil {
		t.Manner = s.Manner()
	}
	d, ok := rt.dev.(device.Linked)
	if !ok {
		t.Medium = "shared memory of this host"
		return t, nil
	}
	var err error
	t.ID, t.Links, err = d.Links()
	return t, err
}

// sized writes a number of bytes: "1.5 MiB".
func sized(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
