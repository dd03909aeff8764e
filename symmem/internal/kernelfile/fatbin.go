package kernelfile

import "encoding/binary"

// A fatbin is a header and entries, each with a header of its own and code for one architecture.
// NVIDIA does not document it; the fields are those that nvcc of CUDA 11 to 13 fills.

const (
	fatbinMagic  = 0xBA55ED50
	fatbinHeader = 16

	// Of an entry's header. It may be longer.
	entryHeader = 64

	kindPTX = 1
	kindELF = 2

	flagLZ4    = 1 << 13
	flagZstd   = 1 << 15
	flagExact  = 1 << 20 // sm_90a
	flagFamily = 1 << 21 // sm_100f
)

// parseFatbin checks a fatbin, and all code in it that is not packed.
func (f *File) parseFatbin() error {
	data := f.data
	if len(data) < fatbinHeader {
		return fault(copyAgain, "it ends within the header of a fatbin")
	}
	header, size := int(binary.LittleEndian.Uint16(data[6:])), binary.LittleEndian.Uint64(data[8:])
	if header < fatbinHeader || header > len(data) {
		return fault(copyAgain, "the header of the fatbin is damaged")
	}
	if !within(uint64(header), size, len(data)) {
		return fault(copyAgain, "it has %d bytes, and its header announces %d of code", len(data), size)
	}
	rest := data[header:][:size]
	for i := 1; len(rest) > 0; i++ {
		if len(rest) < entryHeader {
			return fault(copyAgain, "it ends within the header of entry %d", i)
		}
		kind, header, size := binary.LittleEndian.Uint16(rest), uint64(binary.LittleEndian.Uint32(rest[4:])),
			binary.LittleEndian.Uint64(rest[8:])
		if header < entryHeader || !within(header, size, len(rest)) {
			return fault(copyAgain, "entry %d of the fatbin is damaged: it has a header of %d bytes and %d bytes of code", i, header, size)
		}
		code := rest[header:][:size]
		arch, flags := archOf(int(binary.LittleEndian.Uint32(rest[28:])&0xffff)), binary.LittleEndian.Uint64(rest[40:])
		rest = rest[header+size:]
		switch {
		case flags&flagExact != 0:
			arch.Suffix = 'a'
		case flags&flagFamily != 0:
			arch.Suffix = 'f'
		}
		if kind != kindPTX && kind != kindELF {
			continue // code for a linker
		}
		im := &Image{packed: true, ptx: kind == kindPTX}
		var err error
		switch {
		case flags&(flagLZ4|flagZstd) != 0:
		case im.ptx:
			im, err = parsePTX(code)
		default:
			im, err = parseCubin(code)
		}
		if err != nil {
			wrong := err.(*Error)
			return fault(wrong.Hint, "entry %d of the fatbin, for %v: %s", i, arch, wrong.Msg)
		}
		im.arch = arch
		f.images = append(f.images, im)
	}
	if f.images == nil {
		return fault("make it by nvcc -fatbin", "the fatbin has no code for a GPU")
	}
	return nil
}
