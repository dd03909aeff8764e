package foreign

import (
	"fmt"
	"go/types"
	"path"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// python writes Python.
type python struct {
	*module
	naturals, positives map[types.Object]bool // variables that are known not to be negative, and those that are the number of ranks
}

var pythonWords = dialect{
	name: "Python", host: "PyTorch", operations: "PyTorch's symmetric memory", comment: "#", reserved: pythonReserved, symm: "symm.",
	when: "if %s:", elseWhen: "elif %s:", otherwise: "else:", or: " or ", several: "%s", fail: "raise RuntimeError(%s)",
	labels: "Python has no labels", leaves: "break and fallthrough of a switch are not Python's", null: "None",
	bools: map[bool]string{true: "True", false: "False"}, quote: quote, arrays: "Python passes no copy of an array",
	timeout: "timeout=%s", options: []string{"Tensor", "Handle", "DType", ""},
	tensors: tensorMethods, handles: handleMethods, functions: libraryFunctions,
	inPlace: "%s.copy_(%s)", into: "symm.fill_from(%s, %s)",
}

// Python writes the cells of a session of size ranks as the Python module of a file, with the files
// that the module needs. It returns all files by their paths in the folder of the module.
func Python(file string, cells []session.Cell, size int) (map[string][]byte, error) {
	m, err := newModule(cells, &pythonWords, func(m *module) language {
		return &python{m, map[types.Object]bool{}, map[types.Object]bool{}}
	})
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, s := range m.sources {
		texts = append(texts, s.text)
	}
	headers, missing := Headers(texts...)
	files := map[string][]byte{path.Base(file): []byte(m.python(path.Base(file), size, missing)),
		"symm_torch.py": runtimeFile("symm_torch.py")}
	files[path.Join(include, operations)] = runtimeFile(operations)
	for name, text := range headers {
		files[path.Join(include, name)] = []byte(text)
	}
	return files, nil
}

const pythonHeader = `"""A session of symmrepl as a module for PyTorch's symmetric memory.

    torchrun --nproc-per-node %[2]d %[1]s           runs the cells, one process for each rank
    torchrun --nproc-per-node %[2]d %[1]s --test    also compares what it does with torch.distributed; exit status 1 if anything is wrong

It needs a GPU, torch and cuda-bindings, and symm_torch.py and symm_include beside it. Ranks may share a GPU. Another program imports
the kernels: "from %[3]s import ..." after symm_torch.start().
"""

`

// python returns the text of a module of Python.
func (m *module) python(file string, size int, missing []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, pythonHeader, file, size, strings.TrimSuffix(file, ".py"))
	for _, name := range []string{"math", "time"} {
		if m.uses[name] {
			b.WriteString("import " + name + "\n")
		}
	}
	if m.uses["math"] || m.uses["time"] {
		b.WriteString("\n")
	}
	if m.uses["torch"] {
		b.WriteString("import torch\n\n")
	}
	b.WriteString("import symm_torch as symm\n")
	for _, name := range missing {
		fmt.Fprintf(&b, "\n# A kernel includes %s, which is a file of yours: put it into %s.\n", name, include)
	}
	explained := ""
	for _, s := range m.sources {
		b.WriteString("\n" + s.python(explained))
		if s.nccl != "" && explained == "" {
			explained = s.name
		}
	}
	b.WriteString("\n\ndef run():\n")
	if len(m.out) == 0 {
		m.out = []string{"    pass"}
	}
	b.WriteString(strings.TrimRight(strings.Join(m.out, "\n"), "\n") + "\n\n\nif __name__ == \"__main__\":\n    symm.main(run)\n")
	return b.String()
}

var ncclInPython = ncclWays{
	host:         "PyTorch's symmetric memory",
	communicator: `Take PyTorch's communicator: comm = dist.group.WORLD._get_backend(torch.device("cuda"))._comm_ptr(), after a collective.`,
	windows: `Allocate the tensors by ncclMemAlloc (torch.distributed._symmetric_memory.empty with TORCH_SYMMMEM=NCCL does) and call
     ncclCommWindowRegister(comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC) for each, on all ranks.`,
}

// python returns the source in Python. explained is the source that explains kernels of
// nccl_device.h, or "".
func (s *source) python(explained string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Cell %d.\n", s.cell)
	if s.nccl != "" {
		b.WriteString(s.ncclHelp("#", explained, ncclInPython))
		fmt.Fprintf(&b, "%s = %s\n", s.name, block(s.text))
		return b.String()
	}
	fmt.Fprintf(&b, "%s = symm.Source(\n    %s,\n    \"cell%d.cu\",\n)\n", s.name, block(s.text), s.cell)
	for _, k := range s.kernels {
		fmt.Fprintf(&b, "%s = %s.kernel(%s", k.variable, s.name, quote(k.name))
		for _, p := range k.params {
			b.WriteString(", " + quote(p))
		}
		b.WriteString(")\n")
	}
	return b.String()
}

func (m *python) only(ranks []int) {
	m.line("if symm.rank() in [" + strings.ReplaceAll(fmt.Sprint(ranks)[1:], " ", ", ") + ":")
}

func (m *python) end(start int) {
	m.pass(start)
	m.deep--
}

// pass makes a block of Python of the lines from start on, if they are comments only.
func (m *python) pass(start int) {
	if !m.runs(start) {
		m.line("pass")
	}
}

// block returns a text of several lines as a Python literal, raw if it can be.
func block(text string) string {
	switch {
	case strings.Contains(text, `"""`), strings.HasSuffix(text, `"`), strings.HasSuffix(text, `\`):
		return quote(text)
	}
	return `r"""` + text + `"""`
}
