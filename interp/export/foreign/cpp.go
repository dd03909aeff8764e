package foreign

import (
	"cmp"
	"fmt"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl"
	"github.com/symmrepl/symmrepl/session"
)

// Compiler compiles the kernels of a program in C++.
type Compiler struct {
	Cubin func(name, text, arch string, instances ...string) ([]byte, error) // for a GPU
	Unit  func(name, text string, instances ...string) (string, error)       // C++ for the emulated device
	Flags func() string                                                      // of g++ for that
	Arch  string                                                             // of the GPU: "sm_90"
}

// cpp writes C++.
type cpp struct {
	*module
	declared map[string]bool // variables of the function cells
	within   []*types.Named  // types of which a type is being written
}

var cppWords = dialect{
	name: "C++", host: "symm_host.hpp", operations: "symm_host.hpp", asGo: " as Go has", comment: "//", reserved: cppReserved,
	symm: "symm::", end: ";",
	when: "if (%s) {", elseWhen: "} else if (%s) {", otherwise: "} else {", close: "}", or: " || ", several: "{%s}",
	labels: "labels are not carried over", leaves: "break and fallthrough of a switch are not carried over",
	bools: map[bool]string{true: "true", false: "false"}, quote: cppQuote,
	timeout: "%s.seconds", options: []string{"Shared", "Tensor", "Handle", "DType", ""},
	tensors: cppTensorMethods, handles: cppHandleMethods, functions: cppFunctions,
	inPlace: "%s.fill_from(%s)", into: "%s.fill_from(%s)",
}

// Cpp writes the cells of a session of size ranks as a program of C++: main.cpp with the cells,
// symm_host.h and symm_host.hpp, the kernels of each call of symm.Compile as a text, as a cubin if
// there is an NVRTC, and as C++ for the emulated device, and a Makefile. It returns the files by
// path in the folder of the program.
func Cpp(cells []session.Cell, size int, compiler Compiler) (map[string][]byte, error) {
	m, err := newModule(cells, &cppWords, func(m *module) language { return &cpp{module: m, declared: map[string]bool{}} })
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	b := builder{files: files, compiler: compiler}
	b.add("symm_operations", string(runtimeFile(operations)))
	var texts []string
	for _, s := range m.sources {
		texts = append(texts, s.text)
		if s.nccl == "" {
			b.add(s.file(), strings.TrimPrefix(s.text, "\n"), s.instances...)
		}
	}
	headers, missing := Headers(texts...)
	for name, text := range headers {
		files[path.Join(include, name)] = []byte(text)
	}
	files["main.cpp"] = []byte(m.cpp(size, missing))
	for _, name := range []string{"symm_host.h", "symm_host.hpp"} {
		files[name] = runtimeFile(name)
	}
	files["Makefile"] = fmt.Appendf(nil, makefile, compiler.Arch, strings.Join(b.names, " "), compiler.Flags())
	return files, b.emulator()
}

// builder compiles the kernels of a program.
type builder struct {
	files    map[string][]byte
	compiler Compiler
	names    []string
	emulated bool
}

// add adds a text of kernels. Without a compiler for a device its file is left out, and the
// Makefile makes it.
func (b *builder) add(name, text string, instances ...string) {
	b.names = append(b.names, name)
	ahead := fmt.Sprintf("#include \"symm/abi.cuh\"\n#line 1 \"%s.cu\"\n", name)
	b.files[name+".cu"] = []byte("#include \"stdint.h\"\n#include \"symm.cuh\"\n" + ahead + text)
	if cubin, err := b.compiler.Cubin(name, ahead+text, b.compiler.Arch, instances...); err == nil {
		b.files[name+".cubin"] = cubin
	}
	if unit, err := b.compiler.Unit(name, ahead+text, instances...); err == nil {
		b.files[name+"_cpu.cpp"] = []byte(unit)
		b.emulated = true
	}
}

// emulator adds the sources of the emulated device, with the headers of the network's engine that it
// includes.
func (b *builder) emulator() error {
	if !b.emulated {
		return nil
	}
	const from, include, engine = "symmem/internal/cpu/emu", "symmem/internal/cpu/emu/include", "symmem/internal/net/proxy"
	b.files["emulator/include/stdint.h"] = nil // kernels have its types
	return fs.WalkDir(symmrepl.Sources, "symmem/internal", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) == ".go" {
			return err
		}
		if dir := path.Dir(name); dir != from && dir != include && (dir != engine || path.Ext(name) != ".h") {
			return nil
		}
		text, err := symmrepl.Sources.ReadFile(name)
		b.files[path.Join("emulator", strings.TrimPrefix(name, "symmem/internal/"))] = text
		return err
	})
}

// file returns the name of a source's files, without the ending.
func (s *source) file() string {
	return fmt.Sprint("cell", s.cell, strings.TrimPrefix(s.name, fmt.Sprint("source", s.cell)))
}

const makefile = `# make            builds the program, ./session, with g++ alone; the cubins beside it are for %[1]s
# make cubins ARCH=sm_100   compiles the kernels for another GPU, by nvcc
# make emulated   builds the emulated device and the kernels for it, with g++ alone: SYMM_DEVICE=cpu ./session
CXX ?= g++
ARCH ?= %[1]s
KERNELS = %[2]s
FLAGS = %[3]s

session: main.cpp symm_host.hpp symm_host.h
	$(CXX) -std=c++17 -O2 -o $@ main.cpp -ldl

cubins: $(KERNELS:=.cu)
	for k in $(KERNELS); do nvcc -std=c++17 -arch=$(ARCH) -cubin -I symm_include -o $$k.cubin $$k.cu || exit 1; done

emulated: session emulator.so $(KERNELS:=.so)

emulator.so: $(wildcard emulator/cpu/emu/*)
	$(CXX) -shared -fPIC -std=c++20 -O2 -w -fno-exceptions -fno-rtti -fno-omit-frame-pointer -fno-strict-aliasing -o $@ emulator/cpu/emu/*.cpp emulator/cpu/emu/*.S -ldl -lm -lpthread -lrt

%%.so: %%_cpu.cpp
	$(CXX) -I emulator/include -I emulator/cpu/emu/include -I symm_include -o $@ $(FLAGS) $< -x assembler-with-cpp emulator/cpu/emu/include/emu_shared.S -x none -nostdlib -lgcc -lc -lm

.PHONY: cubins emulated
`

const cppHeader = `// A session of symmrepl as a program of C++: each rank runs a process of it.
//
//	g++ -std=c++17 -O2 -o session main.cpp -ldl
//	torchrun --nproc-per-node %[1]d --no-python ./session --test
//
// builds and runs it. mpirun -np %[1]d, srun and RANK and WORLD_SIZE by hand will do for torchrun; the ranks are on one host. --test also compares
// what it does with what the ranks exchange by their sockets; the exit status is 1 if anything is wrong. "make emulated" and SYMM_DEVICE=cpu
// run it without a GPU.
`

var ncclInCpp = ncclWays{
	host:         "the driver's memory",
	communicator: "Run the program with SYMM_MEMORY=nccl: symm::communicator() is the ncclComm_t.",
	windows:      "The tensors of symm::empty are windows then: symm::window(x) is the ncclWindow_t of x's memory.",
}

// cpp returns the text of a program of C++.
func (m *module) cpp(size int, missing []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, cppHeader, size)
	b.WriteString("#include \"symm_host.hpp\"\n")
	for _, name := range missing {
		fmt.Fprintf(&b, "\n// A kernel includes %s, which is a file of yours: put it into %s.\n", name, include)
	}
	explained := ""
	for _, s := range m.sources {
		fmt.Fprintf(&b, "\n// Cell %d.\n", s.cell)
		if s.nccl != "" {
			b.WriteString(s.ncclHelp("//", explained, ncclInCpp))
			explained = cmp.Or(explained, s.name)
			fmt.Fprintf(&b, "[[maybe_unused]] static const char* const %s = R\"cuda(%s)cuda\";\n", s.name, s.text)
			continue
		}
		fmt.Fprintf(&b, "static symm::Source %s(\"%s\");\n", s.name, s.file())
		for _, k := range s.kernels {
			var params []string
			for _, p := range k.params {
				params = append(params, quote(p))
			}
			fmt.Fprintf(&b, "static symm::Kernel %s = %s.kernel(%s, {%s});\n", k.variable, s.name, quote(k.name),
				strings.Join(params, ", "))
		}
	}
	b.WriteString("\nstatic void cells() {\n")
	for _, line := range m.out {
		b.WriteString(line + "\n")
	}
	b.WriteString("}\n\nint main(int argc, char** argv) { return symm::run(argc, argv, cells); }\n")
	return b.String()
}

// only begins a block for some ranks. Its variables are the program's.
func (m *cpp) only(ranks []int) {
	for _, v := range m.cell.Vars {
		m.attempt(m.cell.Body, func() {
			name := m.define(v, true)
			if !m.declared[name] {
				m.declared[name] = true
				m.line(m.typ(v.Type()) + " " + name + "{};")
			}
		})
	}
	var is []string
	for _, r := range ranks {
		is = append(is, fmt.Sprint("symm::rank() == ", r))
	}
	m.line("if (" + strings.Join(is, " || ") + ") {")
}

func (m *cpp) end(int) {
	m.deep--
	m.line("}")
}

// typ returns a type in C++.
func (m *cpp) typ(t types.Type) string {
	switch u := types.Unalias(t).(type) {
	case *types.Pointer:
		if n, ok := types.Unalias(u.Elem()).(*types.Named); ok && n.Obj().Pkg() != nil &&
			strings.HasPrefix(n.Obj().Pkg().Path(), symmPath) {
			switch n.Obj().Name() {
			case "Tensor", "Handle":
				return "symm::" + n.Obj().Name()
			}
		}
	case *types.Named:
		if n := u.Obj(); n.Pkg() != nil && strings.HasPrefix(n.Pkg().Path(), symmPath) {
			switch n.Name() {
			case "DType", "Timeout", "Shared":
				return "symm::" + n.Name()
			case "Option":
				return "symm::Timeout"
			}
		}
		if slices.Contains(m.within, u) {
			m.refuse("the type " + typeName(t) + " contains itself")
		}
		m.within = append(m.within, u)
		defer func() { m.within = m.within[:len(m.within)-1] }()
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if name, ok := cppBasic[u.Kind()]; ok {
			return name
		}
	case *types.Slice:
		return "std::vector<" + m.typ(u.Elem()) + ">"
	case *types.Array:
		return "std::vector<" + m.typ(u.Elem()) + ">"
	case *types.Map:
		return "std::map<" + m.typ(u.Key()) + ", " + m.typ(u.Elem()) + ">"
	case *types.Signature:
		var params []string
		for p := range u.Params().Variables() {
			params = append(params, m.typ(p.Type()))
		}
		return "std::function<" + m.result(u) + "(" + strings.Join(params, ", ") + ")>"
	}
	m.refuse("values of type " + typeName(t) + " are not carried over")
	return ""
}

// result returns the type of a function's results.
func (m *cpp) result(s *types.Signature) string {
	var list []string
	for r := range s.Results().Variables() {
		list = append(list, m.typ(r.Type()))
	}
	switch len(list) {
	case 0:
		return "void"
	case 1:
		return list[0]
	}
	return "std::tuple<" + strings.Join(list, ", ") + ">"
}

var cppBasic = map[types.BasicKind]string{
	types.Bool: "bool", types.Int: "long", types.Int8: "int8_t", types.Int16: "int16_t", types.Int32: "int32_t",
	types.Int64: "int64_t", types.Uint: "unsigned long",
	types.Uint8: "uint8_t", types.Uint16: "uint16_t", types.Uint32: "uint32_t", types.Uint64: "uint64_t",
	types.Uintptr: "uint64_t", types.Float32: "float",
	types.Float64: "double", types.String: "std::string", types.UntypedBool: "bool", types.UntypedInt: "long", types.UntypedRune: "int32_t",
	types.UntypedFloat: "double", types.UntypedString: "std::string",
}
