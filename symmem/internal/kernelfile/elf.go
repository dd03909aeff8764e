package kernelfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// A cubin is an ELF file. Section .text.K is the code of kernel K, and section .nv.info.K has its
// attributes. NVIDIA documents neither; the numbers are those that cuobjdump -elf prints by name.

// machineCUDA is the ELF machine of NVIDIA's GPUs.
const machineCUDA = elf.Machine(190)

// entryPoint marks a symbol as a kernel, in st_other.
const entryPoint = 0x10

// attributes is the type of the sections .nv.info.
const attributes = elf.SHT_LOPROC

// The attributes of .nv.info that are read.
const (
	attrReqNTID     = 0x10 // the block: three words
	attrKParamInfo  = 0x17 // a parameter: word, ordinal and offset of 16 bits, size from bit 18 of a word
	attrKParamInfo2 = 0x45 // the same of kernels with more than 4 KiB of parameters; the size is the low half of the word
)

// parseCubin checks a cubin. Everything that a section or segment describes must lie in data.
func parseCubin(data []byte) (*Image, error) {
	f, err := elf.NewFile(bytes.NewReader(plainVersion(data)))
	if err != nil {
		return nil, fault(copyAgain, "it begins like a cubin, but its headers cannot be read: %v", err)
	}
	switch {
	case f.Machine != machineCUDA:
		return nil, fault("give a cubin: nvcc -cubin makes one; a host program or library is none",
			"it is an ELF file for %v, not for NVIDIA's GPUs", f.Machine)
	case f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian:
		return nil, fault("", "it is a cubin of 32 bits")
	case f.Type != elf.ET_EXEC:
		return nil, fault("link it by nvcc -cubin without -dc and -rdc", "it is a relocatable object, not a linked cubin")
	}
	for i, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL && !within(s.Offset, s.FileSize, len(data)) {
			return nil, fault(copyAgain, "it ends within section %d, %s", i, shorten(s.Name))
		}
	}
	for i, p := range f.Progs {
		if !within(p.Off, p.Filesz, len(data)) {
			return nil, fault(copyAgain, "it ends within segment %d", i)
		}
	}
	im := &Image{Code: data, arch: archOf(cubinArch(data))}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fault(copyAgain, "its symbols cannot be read: %v", err)
	}
	var failed error
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Other&entryPoint == 0 || s.Name == "" {
			continue
		}
		k := Kernel{Name: s.Name}
		if about := f.Section(".nv.info." + s.Name); about != nil && about.Type == attributes {
			if failed = k.readAttributes(data[about.Offset:][:about.FileSize]); failed != nil {
				return nil, failed
			}
		}
		im.Kernels = append(im.Kernels, k)
	}
	return im, nil
}

// plainVersion returns data with the ELF version that debug/elf accepts: before CUDA 13 the compiler's
// version was there.
func plainVersion(data []byte) []byte {
	const version, end = 20, 24
	if len(data) < end {
		return data
	}
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[version:], uint32(elf.EV_CURRENT))
	return data
}

// within reports whether a part of so many bytes lies in the file.
func within(offset, size uint64, length int) bool {
	return offset <= uint64(length) && size <= uint64(length)-offset
}

// cubinArch is the number of the architecture, from the flags of the ELF header: the low byte up to
// version 7 of the ABI, the next byte from version 8 on, which CUDA 13 writes.
func cubinArch(data []byte) int {
	const abiVersion, flags = 8, 48
	n := binary.LittleEndian.Uint32(data[flags:])
	if data[abiVersion] >= 8 {
		n >>= 8
	}
	return int(n & 0xff)
}

// readAttributes reads the attributes of a kernel. Each has a byte for its format, a byte for its
// number, and 16 bits that are its value, or with format 4 the bytes of the value that follows.
func (k *Kernel) readAttributes(b []byte) error {
	wrong := func() error {
		return fault(copyAgain, "the attributes of kernel %s are damaged", shorten(k.Name))
	}
	var params []Param
	var ordinals []int
	for len(b) > 0 {
		if len(b) < 4 {
			return wrong()
		}
		format, attr, n := b[0], b[1], int(binary.LittleEndian.Uint16(b[2:]))
		b = b[4:]
		if format != 4 {
			continue
		}
		if n > len(b) {
			return wrong()
		}
		value := b[:n]
		b = b[n:]
		switch {
		case attr == attrKParamInfo && n >= 12, attr == attrKParamInfo2 && n >= 12:
			size := binary.LittleEndian.Uint32(value[8:])
			if attr == attrKParamInfo {
				size >>= 18
			} else {
				size &= 0xffff
			}
			ordinals = append(ordinals, int(binary.LittleEndian.Uint16(value[4:])))
			params = append(params, Param{int(binary.LittleEndian.Uint16(value[6:])), int(size)})
		case attr == attrReqNTID && n >= 12:
			for i := range k.Block {
				k.Block[i] = int(binary.LittleEndian.Uint32(value[4*i:]))
			}
		}
	}
	return k.order(params, ordinals)
}

// order sorts parameters by their ordinals, and checks that they do not overlap.
func (k *Kernel) order(params []Param, ordinals []int) error {
	k.Params = make([]Param, len(params))
	seen := make([]bool, len(params))
	for i, o := range ordinals {
		if o >= len(params) || seen[o] {
			return fault(copyAgain, "the parameters of kernel %s are damaged: two have one number, or one is missing", shorten(k.Name))
		}
		seen[o] = true
		k.Params[o] = params[i]
	}
	end := 0
	for i, p := range k.Params {
		if p.Offset < end || p.Size <= 0 || p.Size > maxParams || p.Offset+p.Size > maxParams {
			return fault(copyAgain, "the parameters of kernel %s are damaged: number %d has %d bytes at offset %d",
				shorten(k.Name), i+1, p.Size, p.Offset)
		}
		end = p.Offset + p.Size
	}
	return nil
}

// maxParams is the most bytes of a kernel's parameters. (CUDA C++ Programming Guide, "__global__
// Function Parameters".)
const maxParams = 32764
