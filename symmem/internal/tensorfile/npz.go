package tensorfile

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The format: a zip archive with .npy files as members. The name of a tensor is the name of its member
// without ".npy". Other members are not tensors.

// maxRatio is more than the largest compression ratio of deflate.
const maxRatio = 1033

func (f *File) readNpz() error {
	const hint = "is it a file that numpy.savez wrote, and whole?"
	archive, err := zip.NewReader(f.file, int64(len(f.data)))
	if err != nil {
		return fault(-1, hint, "it is no zip archive: %v", err)
	}
	seen := map[string]bool{}
	for _, m := range archive.File {
		name, ok := strings.CutSuffix(m.Name, string(npy))
		if !ok {
			continue
		}
		t := &Tensor{Name: name, file: f}
		switch {
		case seen[name]:
			err = fault(-1, hint, "the archive has it twice")
		case !filepath.IsLocal(m.Name) || strings.ContainsRune(m.Name, '\\'):
			err = fault(-1, "rename the member", "the member's name leads out of the archive")
		case m.Flags&1 != 0:
			err = fault(-1, "save it without a password", "the member is encrypted")
		default:
			err = f.readMember(t, m)
		}
		if e, ok := err.(*Error); ok {
			return e.of(name)
		} else if err != nil {
			return err
		}
		seen[name] = true
		f.Tensors = append(f.Tensors, t)
	}
	return f.checkMembers(archive)
}

// readMember reads the header of a member's array.
func (f *File) readMember(t *Tensor, m *zip.File) error {
	const hint = "the file is damaged or made to deceive"
	start, err := m.DataOffset()
	if err != nil {
		return fault(-1, hint, "the member has no header: %v", err)
	}
	size, packed := m.UncompressedSize64, m.CompressedSize64
	if room := int64(len(f.data)) - start; room < 0 || packed > uint64(room) {
		return fault(start, hint, "a member of %d bytes in a file of %d", packed, len(f.data))
	}
	data := f.data[start : start+int64(packed)]
	switch m.Method {
	case zip.Store:
		if size != packed {
			return fault(start, hint, "a member of %d bytes takes %d", size, packed)
		}
	case zip.Deflate:
		if size > math.MaxInt64/2 || packed < size/maxRatio {
			return fault(start, hint, "%d bytes cannot inflate to %d", packed, size)
		}
		t.deflated, t.packed, t.offset, t.bytes = true, int64(packed), start, int64(size)
		head := make([]byte, min(size, npyMaxHeader+12))
		if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(data)), head); err != nil {
			return fault(start, hint, "the member cannot be inflated: %v", err)
		}
		data = head
	default:
		return fault(start, "save it by numpy.savez", "compression %d is unknown", m.Method)
	}
	t.sum, t.summed, t.start = m.CRC32, true, start
	return t.readNpy(data, start)
}

// checkMembers refuses members that share bytes, by which a short file could claim endless data.
func (f *File) checkMembers(archive *zip.Reader) error {
	type place struct {
		name     string
		from, to int64
	}
	var places []place
	for _, m := range archive.File {
		start, err := m.DataOffset()
		if err != nil {
			return fault(-1, "the file is damaged", "the member has no header: %v", err).of(m.Name)
		}
		places = append(places, place{m.Name, start, start + int64(min(m.CompressedSize64, uint64(len(f.data))))})
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	for i, p := range places {
		if i > 0 && p.from < places[i-1].to {
			return fault(p.from, "the file is damaged or made to deceive", "its bytes overlap those of %s",
				shorten(places[i-1].name)).of(p.name)
		}
	}
	return nil
}

const (
	zipVersion = 45   // the version with zip64
	zipDate    = 0x21 // 1980-01-01, as numpy writes it
	zipUTF8    = 1 << 11
	zip64Limit = math.MaxInt32 // Python's
	zipNoSize  = math.MaxUint32
	zipUnix    = 3
	zipMode    = 0o600 << 16
)

// zipFlags returns the flags of a member of this name.
func zipFlags(name string) uint16 {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return zipUTF8
		}
	}
	return 0
}

// npzHead returns the bytes before a member's elements, as numpy.savez writes them. Before sum is
// known, the result already has its final length.
func npzHead(o *Output, sum uint32) []byte {
	head := npyHeader(o)
	size := uint64(len(head)) + uint64(o.bytes)
	name := o.Name + string(npy)
	le := binary.LittleEndian
	b := append([]byte{}, "PK\x03\x04"...)
	for _, v := range []uint16{zipVersion, zipFlags(name), zip.Store, 0, zipDate} {
		b = le.AppendUint16(b, v)
	}
	for _, v := range []uint32{sum, zipNoSize, zipNoSize} {
		b = le.AppendUint32(b, v)
	}
	for _, v := range []uint16{uint16(len(name)), 20} {
		b = le.AppendUint16(b, v)
	}
	b = append(b, name...)
	b = append(b, 1, 0, 16, 0)
	b = le.AppendUint64(le.AppendUint64(b, size), size)
	return append(b, head...)
}

// npzDirectory returns the bytes after the members, which begin at offset at. The first member begins
// at offset 0.
func npzDirectory(list []*Output, sums []uint32, at int64) []byte {
	le := binary.LittleEndian
	var b []byte
	for i, o := range list {
		name := o.Name + string(npy)
		begin := o.offset - int64(len(npzHead(o, 0)))
		size := int64(len(npyHeader(o))) + o.bytes
		size32, begin32 := uint32(zipNoSize), uint32(zipNoSize)
		var wide []byte
		if size > zip64Limit {
			wide = le.AppendUint64(le.AppendUint64(wide, uint64(size)), uint64(size))
		} else {
			size32 = uint32(size)
		}
		if begin > zip64Limit {
			wide = le.AppendUint64(wide, uint64(begin))
		} else {
			begin32 = uint32(begin)
		}
		if wide != nil {
			wide = append(le.AppendUint16([]byte{1, 0}, uint16(len(wide))), wide...)
		}
		b = append(b, "PK\x01\x02"...)
		for _, v := range []uint16{zipUnix<<8 | zipVersion, zipVersion, zipFlags(name), zip.Store, 0, zipDate} {
			b = le.AppendUint16(b, v)
		}
		for _, v := range []uint32{sums[i], size32, size32} {
			b = le.AppendUint32(b, v)
		}
		for _, v := range []uint16{uint16(len(name)), uint16(len(wide)), 0, 0, 0} {
			b = le.AppendUint16(b, v)
		}
		b = le.AppendUint32(le.AppendUint32(b, zipMode), begin32)
		b = append(append(b, name...), wide...)
	}
	return append(b, npzEnd(len(list), int64(len(b)), at)...)
}

// npzEnd returns the end of a directory, given its number of members, its size and its offset.
func npzEnd(members int, size, at int64) []byte {
	le := binary.LittleEndian
	var b []byte
	if members > math.MaxUint16 || at > zip64Limit || size > zip64Limit {
		b = le.AppendUint64(append(b, "PK\x06\x06"...), 44)
		b = le.AppendUint16(le.AppendUint16(b, zipVersion), zipVersion)
		b = le.AppendUint64(b, 0) // disks
		for _, v := range []int64{int64(members), int64(members), size, at} {
			b = le.AppendUint64(b, uint64(v))
		}
		b = le.AppendUint32(append(b, "PK\x06\x07"...), 0)
		b = le.AppendUint32(le.AppendUint64(b, uint64(at+size)), 1)
	}
	b = append(b, "PK\x05\x06\x00\x00\x00\x00"...)
	count := uint16(min(members, math.MaxUint16))
	b = le.AppendUint16(le.AppendUint16(b, count), count)
	b = le.AppendUint32(b, uint32(min(size, math.MaxUint32)))
	b = le.AppendUint32(b, uint32(min(at, math.MaxUint32)))
	return le.AppendUint16(b, 0)
}

// sumOf returns the checksum of a member whose elements are in the file.
func sumOf(o *Output, file io.ReaderAt) (uint32, error) {
	h := crc32.NewIEEE()
	h.Write(npyHeader(o))
	_, err := io.CopyBuffer(h, io.NewSectionReader(file, o.offset, o.bytes), make([]byte, 1<<20))
	return h.Sum32(), err
}
