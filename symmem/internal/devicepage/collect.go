//go:build linux && (amd64 || arm64)

package devicepage

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/kernels/cudadoc"
	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/kernels/reference"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
)

// Collect reads all headers.
func Collect() *reference.Reference {
	builtIn := cpu.EmulatorHeaders()
	files := slices.Concat(kernels.Headers(), kernels.LibraryHeaders(), kernels.ToolkitHeaders())
	known := map[string]bool{}
	files = slices.DeleteFunc(files, func(f kernels.File) bool { // a pattern may match a folder's files twice
		again := known[f.Name]
		known[f.Name] = true
		return again
	})
	slices.SortStableFunc(files, func(a, b kernels.File) int { return place(a.Name) - place(b.Name) })
	c := collector{entries: map[string]int{}}
	c.read(builtIn, onCPU, true) // first, because headers add overloads to what is built in
	c.read(files, onGPU, false)
	return &c.out
}

// place returns a number by which headers are sorted: in the order in which users need them.
func place(header string) int {
	if i := slices.Index(order, header); i >= 0 {
		return i
	}
	return len(order)
}

// order has the headers whose place is not the end.
var order = []string{
	"symm.cuh", "symm/handle.cuh", "symm/team.cuh", "symm/barrier.cuh", "symm/signal.cuh", "symm/remote.cuh", "symm/packet.cuh",
	"symm/line.cuh", "symm/wait.cuh", "symm/report.cuh",
	"symm/order.cuh", "symm/context.cuh", "symm/float16.cuh", "symm/types.cuh", "symm/kernel.cuh", "symm/multimem.cuh",
	"nccl_device.h", "nccl/types.h", "nccl/coop.h", "nccl/pointer.h", "nccl/lsa_barrier.h", "nccl/barrier.h", "nccl/gin.h",
	"nccl/ll_a2a.h", "nccl/multimem.h",
	"nccl/reduce_copy.h", "nccl/missing.h", "nccl.h",
	"nvshmem.h", "nvshmem/world.h", "nvshmem/rma.h", "nvshmem/amo.h", "nvshmem/sync.h", "nvshmem/collectives.h",
	"nvshmem/missing.h", "nvshmemx.h", "cooperative_groups.h", "cuda/atomic", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h",
}

// onGPU and onCPU know the branches of the headers that are not for a device.
func onGPU(condition string) cudalex.Truth { return decided(condition, false) }
func onCPU(condition string) cudalex.Truth { return decided(condition, true) }

func decided(condition string, cpu bool) cudalex.Truth {
	name, not := strings.CutPrefix(condition, "!")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "defined("), ")")
	defined := false
	switch name {
	case "SYMM_CPU":
		defined = cpu
	case "SYMM_BOUNDS", "SYMM_SANITIZE":
	default:
		return cudalex.Unknown
	}
	if defined != not {
		return cudalex.True
	}
	return cudalex.False
}

// hiddenLine takes away the last parameter of nvshmem.h's functions, the line of the call, which no
// program gives.
var hiddenLine = strings.NewReplacer(", SYMM_SHMEM_LINE", "", "SYMM_SHMEM_LINE", "")

// collector puts the declarations of headers together by name.
type collector struct {
	out     reference.Reference
	entries map[string]int
	groups  int // of the headers read
}

func (c *collector) read(files []kernels.File, known cudalex.Known, builtIn bool) {
	var texts []string
	for _, f := range files {
		texts = append(texts, f.Text)
	}
	r := cudadoc.NewReader(known, texts...)
	for _, file := range files {
		f := r.Read(file.Name, file.Text)
		most := 0
		for _, d := range f.Decls {
			most = max(most, d.Group)
			d.Group += c.groups
			c.add(f.Name, d, builtIn)
		}
		c.groups += most + 1
		c.out.Headers = append(c.out.Headers, reference.Header{Name: f.Name, Text: f.Text, BuiltIn: builtIn})
	}
}

// add adds a declaration, and the names of an enumeration.
func (c *collector) add(header string, d cudadoc.Decl, builtIn bool) {
	if isOwn(d.Name) {
		return
	}
	e := reference.Entry{Name: d.Name, Kind: string(d.Kind), Header: header, Group: d.Group, Internal: isInternal(header, d),
		Bases: d.Bases, Gives: d.Gives}
	decl := hiddenLine.Replace(d.Code)
	if d.Kind == cudadoc.Function {
		decl += ";"
	}
	text := strings.TrimPrefix(d.Text, "Internal: ")
	for _, m := range d.Members {
		if m.Kind == cudadoc.Constant {
			c.add(header, cudadoc.Decl{Name: m.Name, Kind: cudadoc.Constant, Code: d.Code, Text: d.Text, Group: d.Group}, builtIn)
			c.out.Entries[c.entries[m.Name]].Internal = true // the page has the enumeration
			continue
		}
		e.Members = append(e.Members, reference.Member{Name: m.Name[strings.LastIndex(m.Name, "::")+2:], Kind: string(m.Kind),
			Decl: m.Code, Text: m.Text, Gives: m.Gives})
	}
	i, known := c.entries[d.Name]
	if !known {
		i = len(c.out.Entries)
		c.entries[d.Name] = i
		c.out.Entries = append(c.out.Entries, e)
	}
	have := &c.out.Entries[i]
	if known {
		// users call the overload for handles, if there is one
		if forHandles(have) && !isForHandles(decl) {
			return
		}
		if isForHandles(decl) && !forHandles(have) {
			*have = e
		}
		switch {
		case e.Internal && !have.Internal:
			return
		case have.Internal && !e.Internal:
			*have = e
		}
	}
	if !slices.Contains(have.Decls, decl) {
		have.Decls = append(have.Decls, decl)
	}
	if text != "" && (!known || d.Own || have.Group == d.Group || len(have.Texts) == 0) && !slices.Contains(have.Texts, text) {
		have.Texts = append(have.Texts, text)
	}
}

func isForHandles(decl string) bool { return strings.Contains(decl, "(const Handle& h") }

func forHandles(e *reference.Entry) bool { return slices.ContainsFunc(e.Decls, isForHandles) }

// isOwn reports whether a name is one by which the headers are made, and which is nobody's to use.
func isOwn(name string) bool {
	last := name[strings.LastIndex(name, "::")+1:]
	for _, inner := range []string{"emu::", "symm::checked::", "details::", "symm_atomic::", "symm::nccl_", "symm::Nccl",
		"symm::shmem_", "symm::Shmem", "symm::kShmem"} {
		if strings.Contains(name, inner) {
			return true
		}
	}
	for _, prefix := range []string{"EMU_", "emu_", "symm_", "CPU_KERNEL", "NCCL_DEVICE_INLINE", "NCCL_HOST_DEVICE_INLINE"} {
		if strings.HasPrefix(strings.TrimPrefix(last, ":"), prefix) {
			return true
		}
	}
	return name == "vsnprintf" || strings.HasPrefix(name, "SYMM_") &&
		!slices.Contains([]string{"SYMM_CPU", "SYMM_EACH", "SYMM_SHARE"}, name)
}

// isInternal reports whether a name is listed nowhere, because a kernel has better ones.
func isInternal(header string, d cudadoc.Decl) bool {
	if strings.HasPrefix(d.Text, "Internal: ") || d.Kind == cudadoc.Macro && strings.HasPrefix(d.Name, "__CUDA") {
		return true
	}
	if header == "symm/net.cuh" || header == "symm/bounds.cuh" || header == "symm/abi.cuh" || header == "symm/half.cuh" ||
		header == "symm/multimem.cuh" || header == "symm/calculate.cuh" || header == "nvshmem/table.h" {
		return true
	}
	// functions of symm.cuh without a comment help those that have one
	return strings.HasPrefix(d.Name, home) && d.Text == "" && d.Kind == cudadoc.Function ||
		strings.Contains(d.Code, "NetGroup& ") || strings.Contains(d.Code, "NetPort& ")
}

const home = "symm::"

// Pack returns the data as package reference embeds it.
func Pack(all *reference.Reference) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		err = e.Encode(all)
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}
