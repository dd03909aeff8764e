package kernelfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxSize is the most bytes of a file. The largest fatbins of CUDA's own libraries are smaller.
const maxSize = 1 << 30

// File is a file whose structure was checked.
type File struct {
	Path string

	// Triton is Triton's description of the kernel, if Path is its JSON; else nil.
	Triton *Triton

	data   []byte
	images []*Image // a fatbin's; one for other files
}

// Image is code for one architecture.
type Image struct {
	// Code is the data that a driver loads: a cubin, PTX that ends with a NUL, or the whole fatbin
	// if the code in the fatbin is packed.
	Code []byte

	// Kernels lists the kernels of the code, in its order. It is nil if the code is packed.
	Kernels []Kernel

	file   string
	ptx    bool
	packed bool
	arch   Arch
}

// Kernel is a kernel of an image.
type Kernel struct {
	Name   string // as the compiler wrote it: of a C++ function that is not extern "C", mangled
	Params []Param

	// Block is the only block that the kernel may be launched with: its threads in each dimension.
	// It is zero if the code does not say.
	Block [3]int
}

// Param is the place of a parameter among the bytes of a launch's arguments.
type Param struct{ Offset, Size int }

// Open reads a file. The error is an *Error.
func Open(path string) (*File, error) {
	f := &File{Path: path}
	err := f.load()
	if err == nil && f.isTriton() {
		err = f.readTriton()
	}
	if err != nil {
		return nil, named(err, path)
	}
	return f, nil
}

// isTriton reports whether the name belongs to a file of Triton's metadata.
func (f *File) isTriton() bool { return strings.EqualFold(filepath.Ext(f.Path), ".json") }

// load reads the file and, if it is code, finds the images in it.
func (f *File) load() (err error) {
	if f.data, err = readAll(f.Path); err != nil || f.isTriton() {
		return err
	}
	return f.parse()
}

// named makes an error an *Error that has the file's name.
func named(err error, path string) *Error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{File: path, Msg: reason(err), Err: err}
	}
	if e.File == "" {
		e.File = path
	}
	return e
}

// readAll reads a regular file that is not too long.
func readAll(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // to open a pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fault("", "it is %s", kindOf(info.Mode()))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err == nil && len(data) > maxSize {
		return nil, fault("", "it has more than %d bytes", maxSize)
	}
	return data, err
}

func kindOf(m fs.FileMode) string {
	if m.IsDir() {
		return "a folder"
	}
	return "no regular file"
}

// reason is an error of the system without the path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// parse finds the images in the data.
func (f *File) parse() error {
	switch {
	case len(f.data) == 0:
		return fault(copyAgain, "it is empty")
	case bytes.HasPrefix(f.data, []byte("\x7fELF")):
		im, err := parseCubin(f.data)
		if err != nil {
			return err
		}
		f.images = []*Image{im}
	case len(f.data) >= 4 && binary.LittleEndian.Uint32(f.data) == fatbinMagic:
		return f.parseFatbin()
	case isText(f.data):
		im, err := parsePTX(f.data)
		if err != nil {
			return err
		}
		f.images = []*Image{im}
	default:
		return fault("give a cubin, PTX, a fatbin, or the .json that Triton writes beside a cubin",
			"it is none of the files that a GPU's driver loads")
	}
	return nil
}

// For picks the code that a GPU of an architecture, such as "sm_90", runs: machine code if the file
// has some, and of several the newest. The error is an *Error.
func (f *File) For(arch string) (*Image, error) {
	gpu, ok := parseArch(arch)
	if !ok {
		return nil, &Error{File: f.Path, Msg: fmt.Sprintf("the device, %s, runs none of it", arch)}
	}
	var best *Image
	for _, im := range f.images {
		if im.runsOn(gpu) && (best == nil || im.before(best)) {
			best = im
		}
	}
	if best == nil {
		var has []string
		for _, im := range f.images {
			has = append(has, im.describe())
		}
		return nil, &Error{File: f.Path, Msg: fmt.Sprintf("it has %s, which a GPU of %s does not run", listed(slices.Compact(has)), arch),
			Hint: fmt.Sprintf("compile it for %s: nvcc -arch=%[1]s, in Triton GPUTarget(\"cuda\", %d, 32)", arch, gpu.number())}
	}
	picked := *best
	picked.file = f.Path
	if picked.packed {
		picked.Code = f.data
	}
	return &picked, nil
}

// Find returns a kernel of the image. Of an image whose kernels are not known it returns one that
// has a name alone, and false. The error is an *Error.
func (im *Image) Find(name string) (k Kernel, known bool, err error) {
	if im.packed {
		return Kernel{Name: name}, false, nil
	}
	var names []string
	for _, k := range im.Kernels {
		if k.Name == name {
			return k, true, nil
		}
		names = append(names, k.Name)
	}
	if len(names) == 0 {
		return Kernel{}, false, &Error{File: im.file, Msg: "it has no kernel", Hint: "a kernel is a __global__ function"}
	}
	return Kernel{}, false, &Error{File: im.file, Msg: "it has no kernel " + shorten(name), Hint: "it has " + listed(names)}
}
