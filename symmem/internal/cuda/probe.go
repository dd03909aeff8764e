package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Report is the result of [Probe].
type Report struct {
	Driver    string // versions in words; empty without a driver
	Problem   error  // why no GPU can be used, or nil
	NVML      error  // why links are unknown, or nil
	GPUs      []GPU
	Libraries []Library
	Headers   string // description of the nccl_device.h that kernels get; empty without NCCL
}

// GPU is one visible GPU.
type GPU struct {
	Name       string
	UUID       string
	Memory     uint64 // bytes
	Capability string // "9.0"
	Multicast  string // why multicast is not used
	Links      []string
	Access     []bool // by GPU: whether this GPU can map the other's memory
	Beside     bool   // MPS runs kernels of several processes side by side
}

// Library is one library that symmrepl can use.
type Library struct {
	Name    string
	Path    string // empty if it was not found
	Version string
	Origin  string
	Problem string // why it cannot be used
	Hint    string // how to get it, if there is a problem
}

// Probe inspects the machine: driver, GPUs and their links, libraries. It opens the libraries that
// it finds to ask for their versions, but creates nothing on a GPU.
func Probe() Report {
	host := libs.ThisHost()
	r := Report{Libraries: libraries(host), Headers: headers()}
	version, n, err := driver()
	if err != nil {
		r.Problem = err
		return r
	}
	r.Driver = "CUDA " + cudaVersion(version)
	for i := range n {
		gpu, err := probe(i, n, host)
		if err != nil {
			r.Problem = err
			return r
		}
		r.GPUs = append(r.GPUs, gpu)
	}
	r.NVML = r.addLinks()
	return r
}

// headers describes the nccl_device.h that kernels get.
func headers() string {
	l, err := NCCL()
	if err != nil {
		return ""
	}
	folder, why := l.Headers()
	if why != "" {
		return "symmrepl's, also with the back end NCCL: " + why
	}
	return fmt.Sprintf("symmrepl's; with the back end NCCL, for kernels of barriers and pointers of one host, that of NCCL %s in %s", l.Version(), folder)
}

func probe(index, n int, host libs.Host) (GPU, error) {
	info, uuid, err := describe(index, host.Getenv)
	if err != nil {
		return GPU{}, err
	}
	g := GPU{Name: info.Name, UUID: uuidString(uuid), Memory: info.Memory, Multicast: info.MulticastWhy,
		Beside: multiProcess(index, host.Getenv)}
	digits := strings.TrimPrefix(info.Arch, "sm_")
	g.Capability = digits[:len(digits)-1] + "." + digits[len(digits)-1:]
	for peer := range n {
		yes := peer == index
		if !yes {
			if yes, err = clib.CanAccess(index, peer); err != nil {
				return GPU{}, err
			}
		}
		g.Access = append(g.Access, yes)
	}
	return g, nil
}

// addLinks asks NVML for the kernel driver's version and the links.
func (r *Report) addLinks() error {
	var m monitor
	api, err := m.open()
	if err != nil {
		return err
	}
	if v, ret := api.SystemGetDriverVersion(); ret == nvml.SUCCESS {
		r.Driver += ", driver " + v
	}
	handles := make([]nvml.Device, len(r.GPUs))
	for i, g := range r.GPUs {
		h, ret := api.DeviceGetHandleByUUID(g.UUID)
		if ret != nvml.SUCCESS {
			return nvmlError("nvmlDeviceGetHandleByUUID", ret)
		}
		handles[i] = h
	}
	for i := range r.GPUs {
		for j := range r.GPUs {
			if i == j {
				r.GPUs[i].Links = append(r.GPUs[i].Links, "-")
				continue
			}
			kind, _, err := connection(handles[i], handles[j])
			if err != nil {
				return err
			}
			r.GPUs[i].Links = append(r.GPUs[i].Links, kind)
		}
	}
	return nil
}

func libraries(host libs.Host) []Library {
	var list []Library
	for _, kind := range libs.Kinds() {
		l := Library{Name: kind.Name, Problem: "not found", Hint: kind.Hint}
		if own := host.Getenv(kind.Env); own != "" {
			l.Problem = kind.Env + " is " + own + ", which has no " + l.Name
		}
		for _, found := range host.Find(kind) {
			l.Path, l.Version, l.Origin, l.Problem = found.Path, found.Version, found.Origin, ""
			v, err := clib.LibraryVersion(found.Path, kind.Version)
			if err == nil {
				l.Version = preciseVersion(found.Version, v)
				l.Hint = ""
				break
			}
			l.Problem = err.Error()
		}
		list = append(list, l)
	}
	return list
}

// preciseVersion writes the version that the library reports. If it does not report the third
// number, it is taken from the file's name, if possible.
func preciseVersion(file string, v [3]int) string {
	two := fmt.Sprintf("%d.%d", v[0], v[1])
	if v[2] == 0 && strings.HasPrefix(file, two+".") {
		return file
	}
	if v[2] == 0 {
		return two
	}
	return fmt.Sprintf("%s.%d", two, v[2])
}

// String returns the report in the form that `symmrepl doctor` prints.
func (r Report) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if r.Driver != "" {
		fmt.Fprintf(w, "driver\t%s\n", r.Driver)
	}
	var unavailable *device.UnavailableError
	switch {
	case errors.As(r.Problem, &unavailable) && unavailable.Absent:
		fmt.Fprintf(w, "GPUs\tnone: %s (%s)\n", unavailable.Why, unavailable.Hint)
	case r.Problem != nil:
		fmt.Fprintf(w, "problem\t%v\n", r.Problem)
	}
	for i, g := range r.GPUs {
		fmt.Fprintf(w, "GPU %d\t%s, %.1f GiB, compute capability %s, %s\n", i, g.Name, gib(g.Memory), g.Capability, g.UUID)
	}
	for i, g := range r.GPUs {
		if len(r.GPUs) > 1 && len(g.Links) == len(r.GPUs) {
			fmt.Fprintf(w, "links of GPU %d\t%s\n", i, strings.Join(g.Links, " "))
		}
		for peer, yes := range g.Access {
			if !yes {
				fmt.Fprintf(w, "note\tGPU %d cannot map the memory of GPU %d: their ranks are in different LSA teams, and the network carries between them\n", i, peer)
			}
		}
	}
	if r.NVML != nil {
		fmt.Fprintf(w, "links\tunknown: %v\n", r.NVML)
	}
	if len(r.GPUs) > 0 {
		if why := r.GPUs[0].Multicast; why != "" {
			fmt.Fprintf(w, "multicast\tnot used: %s\n", why)
		} else {
			fmt.Fprintln(w, "multicast\tused")
		}
	}
	if n := len(r.GPUs); n > 0 {
		how := "kernels of different ranks take turns by time slices"
		if r.GPUs[0].Beside {
			how = "MPS runs the kernels of different ranks side by side"
		}
		fmt.Fprintf(w, "sharing\tmore ranks than %d share GPUs: %s\n", n, how)
	}
	for _, l := range r.Libraries {
		switch {
		case l.Path == "":
			fmt.Fprintf(w, "%s\t%s; %s\n", l.Name, l.Problem, l.Hint)
		case l.Problem != "":
			fmt.Fprintf(w, "%s\t%s (%s) does not load: %s; %s\n", l.Name, l.Path, l.Origin, l.Problem, l.Hint)
		default:
			fmt.Fprintf(w, "%s\t%s, %s (%s)\n", l.Name, l.Version, l.Path, l.Origin)
		}
	}
	if r.Headers != "" {
		fmt.Fprintf(w, "headers\tnccl_device.h is %s\n", r.Headers)
	}
	if own := os.Getenv(driverVariable); own != "" {
		fmt.Fprintf(w, "note\t%s=%s is used as the driver\n", driverVariable, own)
	}
	w.Flush()
	return b.String()
}
