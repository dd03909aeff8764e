package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// driverVariable is an environment variable that names a driver library other than the system's.
const driverVariable = "SYMMREPL_CUDA"

// noDevice is the driver's result without a GPU, CUDA_ERROR_NO_DEVICE.
const noDevice = 100

// deviceTaken is the driver's result for a GPU in exclusive mode that another process uses,
// CUDA_ERROR_DEVICE_UNAVAILABLE.
const deviceTaken = 46

// driver loads and initialises the driver. The error is an *device.UnavailableError.
func driver() (version, devices int, err error) {
	own := os.Getenv(driverVariable)
	if err := clib.Load(cmp.Or(own, "libcuda.so.1")); err != nil {
		e := unavailable("the driver library does not load: "+err.Error(), "install the NVIDIA driver, of CUDA 12 or newer")
		e.Absent = own == ""
		return 0, 0, e
	}
	version, devices, err = clib.Init()
	var failed *device.DriverError
	switch {
	case errors.As(err, &failed) && failed.Code == noDevice, err == nil && devices == 0:
		e := unavailable("the driver sees no GPU", "is one fitted, and is CUDA_VISIBLE_DEVICES empty or wrong?")
		e.Absent = true
		return 0, 0, e
	case err != nil:
		return 0, 0, unavailable("the driver does not start: "+err.Error(), "see `nvidia-smi`")
	}
	return version, devices, nil
}

func unavailable(why, hint string) *device.UnavailableError {
	return &device.UnavailableError{Kind: "cuda", Why: why, Hint: hint}
}

// Count returns the number of visible GPUs, at least one. If there is none, the error is an
// *device.UnavailableError.
func Count() (int, error) {
	_, n, err := driver()
	return n, err
}

// Open opens a GPU by its ordinal among the visible ones. If it cannot be used, the error is an
// *device.UnavailableError. Temporary files are made in the folder scratch, or in os.TempDir if it is "".
// A note about the compiler, if there is one, goes to standard error; with quiet it is dropped, because
// another process prints it.
func Open(index int, scratch string, quiet bool) (device.Device, error) {
	d, err := open(index, scratch, libs.ThisHost())
	if err != nil {
		return nil, err
	}
	if note := d.compiler.Note(); note != "" && !quiet {
		fmt.Fprintln(os.Stderr, "symmrepl:", note)
	}
	d.preparing.Go(func() { d.compiler.Prepare(emptySnippet()) }) // beside the rest of the session's start
	return d, nil
}

func open(index int, scratch string, host libs.Host) (*Device, error) {
	version, n, err := driver()
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= n {
		return nil, unavailable(fmt.Sprintf("there is no GPU %d", index),
			fmt.Sprintf("the GPUs are 0 to %d; see CUDA_VISIBLE_DEVICES", n-1))
	}
	d := &Device{units: map[string]*module{}, visible: n}
	if d.info, d.uuid, err = describe(index, host.Getenv); err != nil {
		return nil, err
	}
	major, err := clib.DeviceAttribute(index, clib.CapabilityMajor)
	if err != nil {
		return nil, err
	}
	// Nearly all of the time goes to the context. NVML starts and the libraries are looked for beside it.
	var beside sync.WaitGroup
	var linked bool
	var fabric string
	beside.Go(func() { linked, fabric = major >= 9 && d.nvlinked(), d.fabricDomain() })
	beside.Go(func() { d.compiler = cubin.New(host, d.info.Arch, version/1000, scratch) })
	d.c, err = clib.Open(index)
	beside.Wait()
	if err != nil {
		return nil, unavailable(fmt.Sprintf("GPU %d does not open: %v", index, err), openHint(err))
	}
	d.overlaps, d.info.WholeLines = major >= 9, linked
	d.info.Driver = "CUDA driver " + cudaVersion(version) + ", " + d.compiler.Describe()
	if fabric != "" && d.c.JoinFabric() == nil {
		d.fabric = fabric
	}
	page, err := d.c.HostAlloc(int(unsafe.Sizeof(device.Watch{})))
	if err != nil {
		d.c.Close()
		return nil, err
	}
	d.watch = (*device.Watch)(page)
	return d, nil
}

// openHint returns a hint for a GPU that does not open.
func openHint(err error) string {
	var failed *device.DriverError
	switch {
	case errors.As(err, &failed) && failed.Code == deviceTaken:
		return "another process has it to itself: `nvidia-smi -c DEFAULT` lets several processes use a GPU, and so does MPS"
	case errors.Is(err, device.ErrOutOfMemory):
		return "other processes hold its memory, of which every rank needs some hundred MiB: see `nvidia-smi`"
	}
	return "see `nvidia-smi`"
}

// describe returns the constant properties of a GPU, without Info.Driver.
func describe(index int, getenv func(string) string) (info device.Info, uuid [16]byte, err error) {
	about, err := clib.Describe(index)
	if err != nil {
		return info, uuid, err
	}
	ask := func(a clib.Attribute) int {
		v, failed := clib.DeviceAttribute(index, a)
		err = errors.Join(err, failed)
		return v
	}
	three := func(a clib.Attribute) [3]int { return [3]int{ask(a), ask(a + 1), ask(a + 2)} }
	info = device.Info{
		Kind:           "cuda",
		Name:           about.Name,
		Index:          index,
		Arch:           fmt.Sprintf("sm_%d%d", ask(clib.CapabilityMajor), ask(clib.CapabilityMinor)),
		Processors:     ask(clib.Multiprocessors),
		MaxThreads:     ask(clib.MaxThreadsPerBlock),
		MaxGrid:        three(clib.MaxGridX),
		MaxBlock:       three(clib.MaxBlockX),
		SharedPerBlock: ask(clib.MaxSharedOptin),
		Memory:         about.Memory,
		MulticastWhy:   multicastWhy(ask(clib.Multicasting) != 0, clib.MulticastKnown(), getenv),
	}
	info.Multicast = info.MulticastWhy == ""
	if ask(clib.PosixHandles) == 0 && err == nil {
		err = unavailable("this GPU or driver cannot share memory by file descriptors", "Linux with a driver of CUDA 12 or newer is needed")
	}
	return info, about.UUID, err
}

// cudaVersion writes 13000 as "13.0".
func cudaVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
