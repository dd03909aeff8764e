package tensorfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Output is a tensor to write.
type Output struct {
	Name  string // ignored in formats of one tensor
	Type  element.Type
	Shape []int

	bytes  int64
	offset int64 // of the elements in the file
}

// Writer writes a file under a temporary name in the folder of the final one.
type Writer struct {
	path string // with links resolved
	said string // the path as the caller gave it
	temp string
	list []*Output
	file *os.File
	mode fs.FileMode // of the replaced file, or 0
	end  int64       // of the elements

	mapping sync.Mutex
	data    []byte // the file's mapping, if there is one; guarded by mapping until it is there
}

// Create begins a file of tensors. The end of the path determines the format. Each tensor has its own
// range for its elements: see [Writer.At]. Commit gives the file its name and replaces the file that
// had the name; if the path is a symbolic link, Commit replaces the file that the link points to. The
// file has the tensors in the order of list. The error is an *Error.
func Create(path string, list []*Output) (*Writer, error) {
	w := &Writer{said: path, list: list}
	header, err := w.layOut()
	if err != nil {
		return nil, err
	}
	if err := w.resolve(); err != nil {
		return nil, err
	}
	w.temp = filepath.Join(filepath.Dir(w.path), fmt.Sprintf(".%.100s.%s.tmp", filepath.Base(w.path), rand.Text()[:10]))
	if w.file, err = os.OpenFile(w.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, failed(path, err)
	}
	if _, err = w.file.WriteAt(header, 0); err == nil {
		err = w.file.Truncate(w.end)
	}
	if err != nil {
		w.Abort()
		return nil, failed(path, err)
	}
	return w, nil
}

// Join opens the file that another process began by Create of the same path and list, and calls temp.
func Join(path, temp string, list []*Output) (*Writer, error) {
	w := &Writer{said: path, list: list}
	if _, err := w.layOut(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(temp, os.O_RDWR, 0)
	if err != nil {
		e := failed(path, err)
		e.Hint = "all ranks write into the file: they must see one file system"
		return nil, e
	}
	w.file = file
	return w, nil
}

// Temp returns the path of the file until Commit.
func (w *Writer) Temp() string { return w.temp }

// layOut places the elements and returns the bytes before them.
func (w *Writer) layOut() (header []byte, err error) {
	f := formatOf(w.said)
	if (f == npy || f == raw) && len(w.list) != 1 {
		return nil, w.refuse("", "save it as .safetensors or .npz", "the file has one tensor, not %d", len(w.list))
	}
	seen := map[string]bool{}
	for _, o := range w.list {
		n, ok := product(o.Shape, o.Type.Size())
		if !ok || len(o.Shape) > maxDims {
			return nil, w.refuse(o.Name, "", "a shape of [%s] is too large", joined(o.Shape, ", "))
		}
		o.bytes = n
		if why := unfit(f, o.Name); why != "" || seen[o.Name] {
			return nil, w.refuse(o.Name, "give it another name", "%s", cmp.Or(why, "the name is there twice"))
		}
		seen[o.Name] = true
		if f == safetensors && safetensorsRank(o.Type) < 0 {
			return nil, w.refuse(o.Name, "save it as .npy or .npz, or convert it", "safetensors has no %v", o.Type)
		}
	}
	switch f {
	case safetensors:
		header = safetensorsHeader(w.list)
		if len(header) > maxHeader {
			return nil, w.refuse("", "save fewer tensors", "a header of %d bytes; at most %d are possible", len(header), maxHeader)
		}
		w.end = int64(len(header))
	case npy:
		header = npyHeader(w.list[0])
		w.list[0].offset = int64(len(header))
		w.end = int64(len(header))
	case npz: // the headers are written when the checksums are known
		for _, o := range w.list {
			o.offset = w.end + int64(len(npzHead(o, 0)))
			w.end = o.offset + o.bytes
		}
		return nil, nil
	}
	for _, o := range w.list {
		w.end += o.bytes
	}
	return header, nil
}

// unfit returns the reason why a name is not allowed for a tensor, or "".
func unfit(f format, name string) string {
	switch {
	case f == npy || f == raw:
		return ""
	case name == "":
		return "a tensor in a file of this format needs a name"
	case !utf8.ValidString(name):
		return "the name is not UTF-8"
	case f == safetensors && name == metadataEntry:
		return "the format reserves this name"
	case f == npz && (!filepath.IsLocal(name) || len(name) > 1<<15):
		return "a member of an archive cannot have this name"
	}
	return ""
}

func (w *Writer) refuse(tensor, hint, format string, args ...any) *Error {
	e := fault(-1, hint, format, args...)
	e.File, e.Tensor = w.said, tensor
	return e
}

// resolve follows links, and refuses to replace anything but a regular file.
func (w *Writer) resolve() error {
	path, err := filepath.EvalSymlinks(w.said)
	if errors.Is(err, fs.ErrNotExist) {
		// A new file, or the missing target of a link, whose folder must exist.
		if target, err := os.Readlink(w.said); err == nil {
			if w.path = target; !filepath.IsAbs(target) {
				w.path = filepath.Join(filepath.Dir(w.said), target)
			}
		} else {
			w.path = w.said
		}
		return nil
	}
	if err != nil {
		return failed(w.said, err)
	}
	w.path = path
	info, err := os.Stat(path)
	if err != nil {
		return failed(w.said, err)
	}
	if !info.Mode().IsRegular() {
		return w.refuse("", "give the path of a file", "it is %s", sort(info.Mode()))
	}
	w.mode = info.Mode().Perm()
	return nil
}

// At returns a section with all elements of an output. Several goroutines may write it.
func (w *Writer) At(o *Output) io.WriterAt { return &section{w: w, o: o, run: o.bytes} }

// Part returns a section with the indices [lo, hi) of a dimension of an output.
func (w *Writer) Part(o *Output, dim, lo, hi int) io.WriterAt {
	inner := int64(o.Type.Size())
	for _, d := range o.Shape[dim+1:] {
		inner *= int64(d)
	}
	return &section{w: w, o: o, start: int64(lo) * inner, run: int64(hi-lo) * inner, stride: int64(o.Shape[dim]) * inner}
}

// section is a part of an output's elements in a file: runs of bytes whose starts are one stride apart.
type section struct {
	w                  *Writer
	o                  *Output
	start, run, stride int64
}

// WriteAt implements io.WriterAt.
func (s *section) WriteAt(b []byte, off int64) (n int, err error) {
	put := func(b []byte, at int64) error {
		_, err := s.w.file.WriteAt(b, at)
		return err
	}
	each := func() error {
		for n < len(b) {
			at := off + int64(n)
			m := int(min(int64(len(b)-n), s.run-at%s.run))
			if err := put(b[n:n+m], s.o.offset+s.start+at/s.run*s.stride+at%s.run); err != nil {
				return err
			}
			n += m
		}
		return nil
	}
	if s.run >= wide || s.run == s.o.bytes {
		err = each()
	} else if err = s.w.mapFile(); err == nil {
		put = func(b []byte, at int64) error {
			copy(s.w.data[at:], b)
			return nil
		}
		err = guard(s.w.data, each) // the disk may be full
	}
	if err != nil {
		return n, s.w.failed(s.o, s.o.offset+s.start, err)
	}
	return n, nil
}

// mapFile maps the file, once.
func (w *Writer) mapFile() error {
	w.mapping.Lock()
	defer w.mapping.Unlock()
	if w.data != nil {
		return nil
	}
	data, err := unix.Mmap(int(w.file.Fd()), 0, int(w.end), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	w.data = data
	return err
}

// failed returns an error of the system about a tensor's elements.
func (w *Writer) failed(o *Output, offset int64, err error) *Error {
	e := failed(w.said, err)
	var f *Error
	if errors.As(err, &f) {
		e.Msg = "the file became shorter, or the disk full, while it was written"
	}
	e.Tensor, e.Offset = o.Name, offset
	return e
}

// close ends the mapping.
func (w *Writer) close() error {
	if w.data != nil {
		unix.Munmap(w.data)
		w.data = nil
	}
	return w.file.Close()
}

// Commit gives the complete file its name. Like the Python libraries, it does not wait until the data
// is on the disk.
func (w *Writer) Commit() error {
	err := w.finish()
	if err == nil && w.mode != 0 {
		err = w.file.Chmod(w.mode)
	}
	if e := w.close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(w.temp, w.path)
	}
	if err != nil {
		os.Remove(w.temp)
		return failed(w.said, err)
	}
	return nil
}

// finish writes the checksums, which depend on the elements.
func (w *Writer) finish() error {
	if formatOf(w.said) != npz {
		return nil
	}
	sums := make([]uint32, len(w.list))
	for i, o := range w.list {
		var err error
		if sums[i], err = sumOf(o, w.file); err != nil {
			return err
		}
		head := npzHead(o, sums[i])
		if _, err := w.file.WriteAt(head, o.offset-int64(len(head))); err != nil {
			return err
		}
	}
	_, err := w.file.WriteAt(npzDirectory(w.list, sums, w.end), w.end)
	return err
}

// Abort removes the file that Create began. After Join it only closes it.
func (w *Writer) Abort() {
	w.close()
	if w.temp != "" {
		os.Remove(w.temp)
	}
}
