package tensorfile

import (
	"bytes"
	"compress/flate"
	"hash/crc32"
	"io"
	"slices"

	"golang.org/x/sys/unix"
)

// Part is a range of one dimension of a tensor, or the whole tensor. Its io.ReaderAt reads its elements
// one after another, in C's order. Several goroutines may read it.
type Part struct {
	Shape []int

	t       *Tensor
	mem     []byte // the mapping of the file, or the inflated elements
	inflate bool   // mem is the inflated elements
	bytes   int64
	start   int64 // of the first run in mem
	run     int64 // bytes of a run of contiguous elements
	outer   []span
}

// span is a dimension of the runs of a part.
type span struct{ n, stride int64 }

// wide is the minimum length of a run that is read by a system call of its own. Shorter runs are read
// from the mapping, whose pages are mapped one by one.
const wide = 64 << 10

// Whole returns all of a tensor. It inflates deflated elements and compares checksums.
func (t *Tensor) Whole() (*Part, error) {
	p := t.part(-1, 0, 0)
	return p, t.named(p.prepare(true))
}

// Part returns the indices [lo, hi) of a dimension. It inflates deflated elements.
func (t *Tensor) Part(dim, lo, hi int) (*Part, error) {
	p := t.part(dim, lo, hi)
	return p, t.named(p.prepare(false))
}

// part is Part, or Whole if dim is -1.
func (t *Tensor) part(dim, lo, hi int) *Part {
	p := &Part{t: t, Shape: slices.Clone(t.Shape), start: t.offset, mem: t.file.data}
	strides := make([]int64, len(t.Shape))
	for i, stride := 0, int64(t.Size); i < len(t.Shape); i++ {
		d := len(t.Shape) - 1 - i
		if t.fortran {
			d = i
		}
		strides[d] = stride
		stride *= int64(t.Shape[d])
	}
	if dim >= 0 {
		p.Shape[dim] = hi - lo
		p.start += int64(lo) * strides[dim]
	}
	p.run = int64(t.Size)
	d := len(p.Shape) - 1
	for ; d >= 0 && (strides[d] == p.run || p.Shape[d] == 1); d-- {
		p.run *= int64(p.Shape[d])
	}
	for ; d >= 0; d-- {
		p.outer = append(p.outer, span{int64(p.Shape[d]), strides[d]})
	}
	p.bytes = int64(t.Size)
	for _, n := range p.Shape {
		p.bytes *= int64(n)
	}
	return p
}

// prepare makes the part readable. whole is true if it is the whole tensor.
func (p *Part) prepare(whole bool) error {
	switch {
	case p.t.deflated:
		return p.inflateAll()
	case p.t.summed && whole:
		return p.t.verify()
	}
	return nil
}

// named adds the file's and the tensor's names to an error.
func (t *Tensor) named(err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *Error:
		e.File, e.Tensor = t.file.Path, t.Name
		return e
	}
	e := failed(t.file.Path, err)
	e.Tensor = t.Name
	return e
}

// Bytes returns the size of the part.
func (p *Part) Bytes() int64 { return p.bytes }

// ReadAt implements io.ReaderAt.
func (p *Part) ReadAt(b []byte, off int64) (n int, err error) {
	switch {
	case p.inflate:
		n, err = p.eachRun(b, off, p.copy)
	case p.run >= wide:
		n, err = p.eachRun(b, off, func(b []byte, from int64) error {
			_, err := p.t.file.file.ReadAt(b, from)
			return err
		})
	default:
		err = guard(p.mem, func() (err error) {
			n, err = p.eachRun(b, off, p.copy)
			return err
		})
	}
	if err != io.EOF || off+int64(n) < p.bytes {
		err = p.t.named(err)
	}
	return n, err
}

// eachRun calls read for each piece of b that is contiguous in the file, with its offset there.
func (p *Part) eachRun(b []byte, off int64, read func(b []byte, from int64) error) (n int, err error) {
	for n < len(b) {
		at := off + int64(n)
		if at >= p.bytes {
			return n, io.EOF
		}
		from := p.start + at%p.run
		r := at / p.run
		for _, s := range p.outer {
			from += r % s.n * s.stride
			r /= s.n
		}
		m := min(int64(len(b)-n), p.run-at%p.run)
		if err := read(b[n:n+int(m)], from); err != nil {
			return n, err
		}
		n += int(m)
	}
	return n, nil
}

func (p *Part) copy(b []byte, from int64) error {
	copy(b, p.mem[from:])
	return nil
}

// verify compares a whole member of an archive with its checksum.
func (t *Tensor) verify() error {
	return guard(t.file.data, func() error {
		if crc32.ChecksumIEEE(t.file.data[t.start:t.offset+t.bytes]) != t.sum {
			return fault(t.start, "the file is damaged", "the member differs from its checksum")
		}
		return nil
	})
}

// inflateAll inflates a member of an archive into memory.
func (p *Part) inflateAll() error {
	t := p.t
	all := t.skip + t.bytes
	data, err := unix.Mmap(-1, 0, int(all), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON) // unlike make, it can fail
	if err != nil {
		return fault(t.offset, "save it without compression", "no memory for the %d bytes that the member inflates to: %v", all, err)
	}
	t.file.inflated = append(t.file.inflated, data)
	err = guard(t.file.data, func() error {
		r := flate.NewReader(bytes.NewReader(t.file.data[t.offset : t.offset+t.packed]))
		if _, err := io.ReadFull(r, data); err != nil {
			return fault(t.offset, "the file is damaged", "the member cannot be inflated to its %d bytes: %v", all, err)
		}
		if n, err := io.ReadFull(r, make([]byte, 1)); n != 0 || err != io.EOF {
			return fault(t.offset, "the file is damaged or made to deceive", "the member inflates to more than its %d bytes", all)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if crc32.ChecksumIEEE(data) != t.sum {
		return fault(t.offset, "the file is damaged", "the member differs from its checksum")
	}
	p.mem, p.inflate = data, true
	p.start += t.skip - t.offset
	return nil
}
