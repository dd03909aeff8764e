package symmem

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelfile"
)

// ParamList is the parameters of a kernel that was compiled elsewhere, made by [Params].
type ParamList struct{ words []string }

// Params lists the types of a kernel's parameters, in order. A type is written
//
//   - as elements of tensors are: "i64", "u8", "f32", "bf16", also "i16", "u16" and "bool"
//   - "ptr" for a pointer, to which a launch gives any tensor, or an address; "*f32" for a pointer to
//     elements of that type, to which it gives a tensor of that type
//   - "handle" for a symm::Handle
//   - as in Triton: "fp32", "*fp16", "i1"
//   - as in C++: "const float*", "long long"
//   - "null" for a pointer to which every launch gives null, and for which it takes no argument
//
// [LoadKernel] refuses others.
func Params(types ...string) ParamList { return ParamList{types} }

// String is, for example, "ptr, ptr, i64".
func (l ParamList) String() string { return strings.Join(l.words, ", ") }

// null is the word of a parameter that launches give null.
const null = "null"

// paramWords are the types that C++ calls otherwise.
var paramWords = map[string]string{
	"ptr": "void*", null: "void*", "handle": "symm::Handle",
	"i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t",
	"u64": "uint64_t",
	"f32": "float", "f64": "double",
	"i1": "bool", "fp16": "half", "fp32": "float", "fp64": "double", "fp8e4nv": "f8e4m3", "fp8e5": "f8e5m2",
}

// paramType understands a type of Params. size is 0 if it is none.
func paramType(word string) (t signature.Type, size int) {
	name, pointer := strings.CutPrefix(word, "*")
	if name == "" {
		return signature.Type{}, 0
	}
	if c, ok := paramWords[name]; ok {
		name = c
	}
	if pointer {
		name += "*"
	}
	t = signature.Classify(name)
	switch {
	case t.Pointers > 0:
		size = 8
	case t.Base == signature.Handle:
		size = int(unsafe.Sizeof(abi.Handle{}))
	case t.Base == signature.Comm:
		size = int(unsafe.Sizeof(abi.NcclDevComm{}))
	default:
		size = t.Size * t.Lanes
	}
	return t, size
}

// LoadKernel loads a kernel that another compiler has compiled, for GPUs: nvcc, Triton, CuTe. It is
// launched as a kernel of Compile is. It is not collective: each rank reads the file itself, and a
// rank on another host needs one there. A path is relative to the folder in which the rank works.
//
// The file is a cubin, PTX, a fatbin, of which the code for this GPU is chosen, or the NAME.json
// that Triton writes to its cache beside NAME.cubin. Its first bytes show which; a .json is
// recognised by the end of its path. name is the kernel's name in the file: a C++ function that is
// not extern "C" has a mangled name, and the error about a missing name lists all names. params are
// the types of the parameters, whose sizes are compared with those in the file. If all code for
// this GPU is packed, the driver provides the sizes.
//
// Triton adds two pointers to a kernel's parameters, to scratch memory and to the memory of its
// profiler, and launches a block of 32 * num_warps threads with the dynamic shared memory of its
// metadata. LoadKernel reads all of this from NAME.json: launches give null to both pointers and
// ask for the shared memory, and params has the parameters that the Triton function declares,
// without its constexprs; an empty name stands for the name in the metadata. For a cubin alone,
// params lists the two pointers as "null", and launches have SharedBytes: a pointer that a caller
// forgot cannot be told from Triton's. A kernel that needs scratch memory, a cluster or a
// cooperative launch is refused.
//
// If the file names the block for which a kernel was compiled, as Triton's files do, every launch
// has that block. Loaded code is trusted as a library is. The ends of a wait, bounds checks and the
// sanitizer belong to text that symmrepl compiles: a loaded kernel that waits for another rank in
// vain, and has no [Handle] by whose functions it waits, does not end.
//
// A kernel is loaded once for each content of the file. KindMisuse refuses a file that is not
// there, damaged, of another architecture, or without the kernel, and params that do not fit;
// KindSystem is an error of the system or of the driver about the file. The cpu device refuses
// every file: it runs CUDA text, by [Compile].
func (rt *Runtime) LoadKernel(path, name string, params ParamList) *Kernel {
	const op = "LoadKernel"
	rt.core.RefuseClosed(op)
	l := &loading{rt: rt, path: path, name: name, words: params.words}
	l.checkArguments()
	loader, ok := rt.dev.(device.Loader)
	if !ok {
		panic(rt.core.Misuse(op, "", "give the CUDA text to symm.Compile, which compiles it for both devices",
			"the %s device does not run machine code of GPUs, as %s has", rt.info.Kind, path))
	}
	l.read()
	key := source{name: path, text: l.digest(), made: l.name + "\n" + params.String()}
	if m := rt.snippets.find(key); m != nil && m.file == path {
		return m.kernels[0]
	}
	k := l.load(loader)
	rt.snippets.keep(key, k.module)
	return k
}

// loading is a call of LoadKernel.
type loading struct {
	rt         *Runtime
	path, name string
	words      []string // of Params

	// The results of read.
	triton *kernelfile.Triton
	image  *kernelfile.Image
}

// checkArguments refuses arguments that fit no file.
func (l *loading) checkArguments() {
	refuse := l.rt.core.Misuse
	if l.path == "" || strings.ContainsRune(l.path, 0) {
		panic(refuse("LoadKernel", "path", "give the path of a file", "a path cannot be %q", l.path))
	}
	if strings.ContainsRune(l.name, 0) {
		panic(refuse("LoadKernel", "name", "give the name of a kernel in the file", "a name cannot be %q", l.name))
	}
	for i, word := range l.words {
		if _, size := paramType(word); size == 0 {
			panic(refuse("LoadKernel", "params",
				`write a type such as "ptr", "*f32", "i64" or "handle"; a struct cannot be given, a pointer to it can`,
				"parameter %d has no type that a launch can give: %q", i+1, word))
		}
	}
}

// read finds the code for this GPU in the file.
func (l *loading) read() {
	file, err := kernelfile.Open(l.path)
	if err == nil {
		l.triton = file.Triton
		l.image, err = file.For(l.rt.info.Arch)
	}
	if err != nil {
		panic(l.rt.core.Failure("LoadKernel", err))
	}
	if l.name == "" && l.triton != nil {
		l.name = l.triton.Name
	}
}

// digest identifies the bytes that were read.
func (l *loading) digest() string {
	text := fmt.Sprintf("%x", sha256.Sum256(l.image.Code))
	if l.triton != nil {
		text += fmt.Sprint(" ", l.triton.Shared)
	}
	return text
}

// load gives the code to the driver, once its parameters agree with Params.
func (l *loading) load(loader device.Loader) *Kernel {
	const op = "LoadKernel"
	said, known, err := l.image.Find(l.name)
	if err != nil {
		panic(l.rt.core.Failure(op, err))
	}
	if known {
		l.compare(said.Params)
	}
	defer l.rt.core.Compiling()() // the driver compiles PTX
	d, err := loader.Load(l.image.Code, l.name)
	if err != nil {
		e := l.rt.core.Failure(op, err)
		e.Msg = l.path + ": " + e.Msg
		panic(e)
	}
	fits := false
	defer func() {
		if !fits {
			d.Close()
		}
	}()
	k := &Kernel{rt: l.rt, d: d.Kernels()[0], block: said.Block}
	if !known {
		said.Params = l.told(k.d.Params())
		l.compare(said.Params)
	}
	fits = true
	l.fill(k, said.Params)
	k.module = &module{d: d, kernels: []*Kernel{k}, file: l.path, checked: sync.OnceValue(func() *module {
		fmt.Fprintf(os.Stderr, "symmrepl: accesses of %s are not checked: it was compiled elsewhere\n", l.name)
		return nil
	})}
	return k
}

// told are the parameters that the driver knows, of code that only the driver unpacks.
func (l *loading) told(params []device.Param) (list []kernelfile.Param) {
	if len(params) == 0 && len(l.words) > 0 {
		panic(l.rt.core.Misuse("LoadKernel", "path", "make the fatbin by nvcc --no-compress, or use a driver of CUDA 12.4 or newer",
			"%s: its code is packed, and the driver tells no parameters of %s", l.path, l.name))
	}
	for _, p := range params {
		list = append(list, kernelfile.Param{Offset: p.Offset, Size: p.Size})
	}
	return list
}

// compare refuses types that do not have the sizes of the file's parameters.
func (l *loading) compare(file []kernelfile.Param) {
	var sizes []string
	for _, p := range file {
		sizes = append(sizes, fmt.Sprint(p.Size))
	}
	refuse := func(hint, format string, args ...any) {
		if hint == "" {
			hint = "the file has parameters of " + strings.Join(sizes, ", ") + " bytes"
		}
		panic(l.rt.core.Misuse("LoadKernel", "params", hint, "%s, kernel %s: %s", l.path, l.name, fmt.Sprintf(format, args...)))
	}
	for i, word := range l.words {
		if i == len(file) {
			break
		}
		if _, size := paramType(word); size != file[i].Size {
			refuse("", "parameter %d has %s in the file, %q has %d", i+1, count.Of(file[i].Size, "byte"), word, size)
		}
	}
	left := len(file) - len(l.words)
	switch {
	case left == 0, l.triton != nil && left == kernelfile.ScratchParams && pointers(file[len(l.words):]):
	case left == kernelfile.ScratchParams && pointers(file[len(l.words):]):
		refuse(`if Triton made the file, these are its two scratch pointers: end Params with "null", "null", or load the .json beside the cubin`,
			"Params lists %s, the file has %d", count.Of(len(l.words), "parameter"), len(file))
	case len(file) == 0:
		refuse("the kernel takes no parameters: symm.Params()", "Params lists %s, the file has none", count.Of(len(l.words), "parameter"))
	default:
		refuse("", "Params lists %s, the file has %d", count.Of(len(l.words), "parameter"), len(file))
	}
}

// pointers reports whether all parameters may be pointers.
func pointers(list []kernelfile.Param) bool {
	for _, p := range list {
		if p.Size != 8 {
			return false
		}
	}
	return true
}

// fill gives a kernel the parameters of Params, at the places of the file.
func (l *loading) fill(k *Kernel, file []kernelfile.Param) {
	for i, p := range file {
		if i < len(l.words) && l.words[i] != null {
			t, _ := paramType(l.words[i])
			k.take(device.Param{Type: l.words[i], Offset: p.Offset, Size: p.Size}, t)
		}
		k.bytes = max(k.bytes, p.Offset+p.Size)
	}
	if l.triton != nil {
		k.shared = l.triton.Shared
	}
	k.sign()
}
