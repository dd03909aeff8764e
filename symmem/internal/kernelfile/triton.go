package kernelfile

import (
	"encoding/json"
	"errors"
	"io/fs"
)

// Triton is the part of Triton's launch metadata that a launch needs. Triton writes the metadata to
// its cache, as NAME.json beside NAME.cubin; triton.compile returns them, too.
type Triton struct {
	Name   string
	Shared int // bytes of dynamic shared memory
}

// ScratchParams is the number of pointers that Triton adds behind a kernel's own parameters: to
// scratch memory in global memory, and to the memory of its profiler. A launch passes null for
// memory of no bytes.
const ScratchParams = 2

// readTriton reads the metadata in f.data, and the code beside them.
func (f *File) readTriton() (err error) {
	if f.Triton, err = parseTriton(f.data); err != nil {
		return err
	}
	code := &File{Path: f.Path[:len(f.Path)-len(".json")] + ".cubin"}
	if err := code.load(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return &Error{File: code.Path, Msg: reason(err), Hint: "Triton writes it beside the .json: copy both", Err: err}
		}
		return named(err, code.Path)
	}
	f.data, f.images = code.data, code.images
	return nil
}

// parseTriton reads metadata, and refuses a kernel that needs more than a launch provides.
func parseTriton(data []byte) (*Triton, error) {
	var m struct {
		Name           *string
		Shared         *int
		NumCTAs        int  `json:"num_ctas"`
		Cooperative    bool `json:"launch_cooperative_grid"`
		GlobalScratch  int  `json:"global_scratch_size"`
		ProfileScratch int  `json:"profile_scratch_size"`
		Target         struct{ Backend string }
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fault(copyAgain, "it is not Triton's metadata: %v", err)
	}
	if m.Name == nil || m.Shared == nil || *m.Shared < 0 {
		return nil, fault("give NAME.json of Triton's cache, beside NAME.cubin",
			"it is not Triton's metadata: they have the kernel's name and its bytes of shared memory")
	}
	needs := func(what string) (*Triton, error) {
		return nil, fault("compile the kernel without it, or launch it by Triton",
			"the kernel needs %s, which a launch does not give", what)
	}
	switch {
	case m.Target.Backend != "" && m.Target.Backend != "cuda":
		return nil, fault(`compile it for GPUTarget("cuda", 90, 32)`, "the kernel was compiled for %s", shorten(m.Target.Backend))
	case m.NumCTAs > 1:
		return needs("a cluster of blocks (num_ctas)")
	case m.Cooperative:
		return needs("a cooperative launch (launch_cooperative_grid)")
	case m.GlobalScratch > 0:
		return needs("scratch memory (global_scratch_size)")
	case m.ProfileScratch > 0:
		return needs("the memory of a profiler (profile_scratch_size)")
	}
	return &Triton{*m.Name, *m.Shared}, nil
}
