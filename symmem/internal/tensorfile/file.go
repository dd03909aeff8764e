package tensorfile

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// format is a file format, which the end of a file's name selects.
type format string

const (
	safetensors format = ".safetensors"
	npy         format = ".npy"
	npz         format = ".npz"
	raw         format = "" // every other name
)

func formatOf(path string) format {
	switch f := format(strings.ToLower(filepath.Ext(path))); f {
	case safetensors, npy, npz:
		return f
	}
	return raw
}

// File is an open file whose header was checked.
type File struct {
	Path    string
	Tensors []*Tensor // in the order of the file

	file *os.File
	data []byte // the mapping

	inflated [][]byte // more mappings, which Close ends
}

// Tensor is a tensor of a file.
type Tensor struct {
	Name  string
	Type  element.Type // 0 if no tensor can have the type, or the file does not name it
	Said  string       // the type as written in the file: "BF16", "<f4"
	Size  int          // bytes of an element; 0 if the elements cannot be read as bytes of another type
	Shape []int        // at most maxDims

	file    *File
	offset  int64 // of the elements in the file
	bytes   int64 // of the elements
	foreign foreign
	fortran bool // neighbours in the first dimension are neighbours in the file

	deflated bool // the data at offset is deflated; the elements end it when inflated
	packed   int64
	skip     int64 // bytes before the elements in the inflated data
	sum      uint32
	summed   bool // sum is the CRC-32 of the whole member, from start on
	start    int64
}

// maxDims is the maximum number of dimensions of a tensor in a file, as in numpy.
const maxDims = 64

// Open maps a file and checks its header. The end of the file's name selects the format; a file with
// any other ending is one tensor of bytes without a name. Open follows symbolic links. The error is an
// *Error.
func Open(path string) (*File, error) {
	f := &File{Path: path}
	if err := f.open(); err != nil {
		f.Close()
		var e *Error
		if errors.As(err, &e) {
			e.File = path
			return nil, e
		}
		return nil, failed(path, err)
	}
	return f, nil
}

func (f *File) open() (err error) {
	if f.file, err = os.OpenFile(f.Path, os.O_RDONLY|unix.O_NONBLOCK, 0); err != nil { // a pipe is refused below, not waited for
		return err
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fault(-1, "give a file", "it is %s", sort(info.Mode()))
	}
	if info.Size() > 0 {
		if f.data, err = unix.Mmap(int(f.file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED); err != nil {
			return err
		}
	}
	return guard(f.data, func() error {
		switch formatOf(f.Path) {
		case safetensors:
			return f.readSafetensors()
		case npy:
			t := &Tensor{file: f}
			f.Tensors = []*Tensor{t}
			return t.readNpy(f.data, 0)
		case npz:
			return f.readNpz()
		}
		n := len(f.data)
		f.Tensors = []*Tensor{{Type: element.U8, Said: "bytes", Size: 1, Shape: []int{n}, bytes: int64(n), file: f}}
		return nil
	})
}

// sort returns a word for a file that is not a regular file.
func sort(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Close ends the mapping. No Part may be in use.
func (f *File) Close() {
	if f.data != nil {
		unix.Munmap(f.data)
		f.data = nil
	}
	for _, data := range f.inflated {
		unix.Munmap(data)
	}
	f.inflated = nil
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}

// Find returns the tensor with a name. The name "" stands for the only tensor of a file.
func (f *File) Find(name string) (*Tensor, error) {
	for _, t := range f.Tensors {
		if t.Name == name || name == "" && len(f.Tensors) == 1 {
			return t, nil
		}
	}
	e := &Error{File: f.Path, Offset: -1, Tensor: name, Msg: "the file has no such tensor", Hint: "it has " + f.names()}
	switch {
	case len(f.Tensors) == 0:
		e.Hint = "it has none"
	case name == "":
		e.Msg, e.Hint = "the file has several tensors", "name one of them: "+f.names()
	case len(f.Tensors) == 1 && f.Tensors[0].Name == "":
		e.Tensor, e.Msg, e.Hint = "", "its tensor has no name", "leave the name out"
	}
	return nil, e
}

// names lists the names of the first tensors.
func (f *File) names() string {
	const most = 8
	var list []string
	for i, t := range f.Tensors {
		if i == most {
			list = append(list, "…")
			break
		}
		list = append(list, shorten(t.Name))
	}
	return strings.Join(list, ", ")
}

// guard calls f, which reads the mapping of a file. If the file becomes shorter meanwhile, reads
// beyond its end fault, and guard returns an error.
func guard(mapping []byte, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		at, ok := r.(memoryFault)
		if !ok || !within(at.Addr(), mapping) {
			panic(r)
		}
		err = fault(-1, "load it again when it is complete", "the file became shorter while it was read")
	}()
	return f()
}

// memoryFault is the value of the panic of a goroutine that reads where no memory is: see
// debug.SetPanicOnFault.
type memoryFault interface{ Addr() uintptr }

// reason is the system's own words, without the path, which the error has already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Op + ": " + p.Err.Error()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "the file became shorter while it was read"
	}
	return err.Error()
}

// As sets the type of the elements of a tensor whose file does not name it, or names a type that
// tensors do not have. Plain bytes become as many fewer elements.
func (t *Tensor) As(e element.Type) error {
	switch {
	case e == t.Type:
	case formatOf(t.file.Path) == raw:
		if t.bytes%int64(e.Size()) != 0 {
			return t.Refuse("is it the right type?", "the file has %s, which is no multiple of an element of %v", count.Of(t.bytes, "byte"), e)
		}
		t.Type, t.Size = e, e.Size()
		t.Shape = []int{int(t.bytes) / e.Size()}
	case t.Type == element.Bool && e == element.U8: // its bytes
		t.Type = e
	case t.Type != 0 && t.Said != npyTypes[element.BF16]: // which may be any type of two bytes
		return t.Refuse("leave the type out", "its elements are %v, not %v", t.Type, e)
	case t.Size == 0:
		return t.Usable()
	case t.Size != e.Size():
		return t.Refuse(cmp.Or(t.foreign.hint, sized(t.Size)), "an element of type %s has %s, and %v has %d", t.Said, count.Of(t.Size, "byte"), e, e.Size())
	default:
		t.Type = e
	}
	return nil
}

// Refuse is an error about the tensor.
func (t *Tensor) Refuse(hint, format string, args ...any) error {
	e := fault(-1, hint, format, args...)
	e.File, e.Tensor = t.file.Path, t.Name
	return e
}
