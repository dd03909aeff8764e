package foreign

import (
	"fmt"
	"go/ast"
	"go/constant"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/signature"
)

// source is a text of symm.Compile.
type source struct {
	name      string // of the Python variable
	cell      int
	text      string
	instances []string // of templates that are asked for
	kernels   []kernel
	nccl      string // the kernel that needs NCCL's device communicator, or ""
}

// kernel is a kernel of a source.
type kernel struct {
	name     string // in CUDA
	variable string
	params   []string
}

// compile returns the name of the variable of the kernel that a call of symm.Compile returns.
func (m *module) compile(c *ast.CallExpr) string {
	var texts []string
	for _, arg := range c.Args {
		v := m.info.Types[arg].Value
		if v == nil || v.Kind() != constant.String {
			m.refuse("the text of the kernel is made when the cell runs")
		}
		texts = append(texts, constant.StringVal(v))
	}
	s := m.sourceOf(texts[0], texts[1:])
	if s.nccl != "" {
		m.refuse(s.nccl + " needs NCCL's own device communicator: see " + s.name)
	}
	wanted := s.kernels[0].name
	if len(texts) > 1 {
		wanted = signature.Canonical(texts[1])
	}
	return m.kernelNamed(s, wanted)
}

// kernelNamed returns the name of the variable of a kernel of a source.
func (m *module) kernelNamed(s *source, name string) string {
	i := slices.IndexFunc(s.kernels, func(k kernel) bool { return k.name == name })
	if i < 0 {
		m.refuse("the text has no kernel " + name)
	}
	return s.kernels[i].variable
}

// sourceOf returns the source of a text, which it adds to the module if it is new.
func (m *module) sourceOf(text string, instances []string) *source {
	same := func(s *source) bool { return s.text == text && slices.Equal(s.instances, instances) }
	if i := slices.IndexFunc(m.sources, same); i >= 0 {
		return m.sources[i]
	}
	if shmemHeader.MatchString(text) {
		m.refuse("the text includes nvshmem.h, whose functions need the session's table of tensors: compile it with NVSHMEM's own header and library")
	}
	found, err := signature.Parse(text, instances...)
	if err != nil {
		m.refuse(err.Error())
	}
	s := &source{cell: m.cell.recorded.ID, text: text, instances: instances}
	for _, k := range found {
		if k.Template {
			continue
		}
		done := kernel{name: k.Name}
		for _, p := range k.Params {
			typ, why := paramType(signature.Classify(p.Type))
			switch {
			case why == ncclParam:
				s.nccl = k.Name
			case why != "":
				m.refuse(fmt.Sprintf("the parameter %q of %s is %s", p, k.Name, why))
			}
			done.params = append(done.params, typ)
		}
		s.kernels = append(s.kernels, done)
	}
	if len(s.kernels) == 0 {
		m.refuse("the text has no kernel")
	}
	s.name = m.fresh(fmt.Sprint("source", s.cell), nil)
	for i := range s.kernels {
		if name, _, _ := strings.Cut(s.kernels[i].name, "<"); s.nccl == "" {
			s.kernels[i].variable = m.fresh(name[strings.LastIndexByte(name, ':')+1:], nil)
		}
	}
	m.sources = append(m.sources, s)
	return s
}

// shmemHeader matches the line that includes NVSHMEM's names.
var shmemHeader = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]nvshmemx?\.h[>"]`)

// ncclParam is the reason why a parameter of NCCL's types cannot be passed.
const ncclParam = "NCCL's"

// paramType returns the name of a parameter's type for Kernel of symm_torch.py, or the reason why
// the parameter cannot be passed.
func paramType(t signature.Type) (text, why string) {
	switch {
	case t.Pointers > 1:
		return "void*", ""
	case t.Pointers == 1 && (t.Base == signature.Comm || t.Base == signature.Handle):
		return "void*", ""
	case t.Base == signature.Comm, t.Base == signature.Window && t.Pointers == 0:
		return "", ncclParam
	case t.Base == signature.Handle:
		return "symm::Handle", ""
	case t.Pointers == 0 && (t.Base == signature.Unknown || t.Lanes > 1):
		return "", "a struct, which a launch from Go cannot fill either"
	}
	name := "void"
	switch {
	case t.Base == signature.Bool:
		name = "bool"
	case t.Base == signature.Half:
		name = "half"
	case t.Base == signature.BFloat16:
		name = "__nv_bfloat16"
	case t.Base == signature.Float && t.Size == 4:
		name = "float"
	case t.Base == signature.Float:
		name = "double"
	case t.Base == signature.Int:
		name = map[int]string{1: "signed char", 2: "short", 4: "int", 8: "long long"}[t.Size]
	case t.Base == signature.Uint:
		name = map[int]string{1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}[t.Size]
	}
	if t.Pointers == 1 {
		name += "*"
	}
	return name, ""
}

// ncclWays holds the parts of ncclHelp that depend on the program's language.
type ncclWays struct {
	host         string // makes neither
	communicator string // step 2
	windows      string // step 3
}

// ncclHelp is a comment that says how a program launches the source's kernel of nccl_device.h. explained
// is the source whose comment has said so, or "".
func (s *source) ncclHelp(mark, explained string, w ncclWays) string {
	help := s.nccl + " is a kernel of nccl_device.h, too: see " + explained + "."
	if explained == "" {
		help = s.nccl + ` is a kernel of nccl_device.h: it takes NCCL's own device communicator (ncclDevComm) and windows (ncclWindow_t) by value, which
` + w.host + ` does not make. Its text is here; a program launches it so:

  1. With NCCL 2.29.7 or later, compile the text with NCCL's own nccl_device.h, of the version that is loaded at run time: the layout
     of ncclDevComm changes between versions. pip's nvidia-nccl-cu13 has it in nvidia/nccl/include.
  2. ` + w.communicator + `
  3. ` + w.windows + `
  4. ncclDevCommRequirements reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER; reqs.lsaBarrierCount = the number of blocks; and
     ncclDevCommCreate(comm, &reqs, &devComm), on all ranks.
  5. Launch by cuLaunchKernel with pointers to devComm and the window as kernelParams: both are copied.`
	}
	var b strings.Builder
	for line := range strings.Lines(help + "\n") {
		b.WriteString(strings.TrimRight(mark+" "+line, " \n") + "\n")
	}
	return b.String()
}
