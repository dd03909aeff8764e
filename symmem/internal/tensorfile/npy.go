package tensorfile

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// The format: a magic string with a version, the length of the header, the header, which is a
// dictionary in Python's syntax, and the elements.

const (
	npyMagic     = "\x93NUMPY"
	npyAlign     = 64
	npyMaxHeader = 10_000 // numpy's own limit
	npyGrowth    = 21     // the width that numpy leaves for the first dimension
)

// npyTypes are numpy's descriptions of types. For types that numpy lacks they are those of ml_dtypes.
// numpy reads the void types as bytes; it writes <f1 but cannot read it.
var npyTypes = map[element.Type]string{
	element.F16: "<f2", element.F32: "<f4", element.F64: "<f8", element.I8: "|i1", element.U8: "|u1", element.I32: "<i4",
	element.U32: "<u4",
	element.I64: "<i8", element.U64: "<u8", element.I16: "<i2", element.U16: "<u2", element.Bool: "|b1", element.C64: "<c8",
	element.C128: "<c16", element.BF16: "<V2", element.F8E4M3: "<V1", element.F8E5M2: "<f1",
}

// readNpy reads the header at the beginning of data, which ends with the file or the member. at is the
// offset of data in the file. For a deflated member, data is only the header, and t.bytes is the whole
// length.
func (t *Tensor) readNpy(data []byte, at int64) error {
	const hint = "is it a file that numpy.save wrote?"
	if len(data) < 10 || string(data[:6]) != npyMagic {
		return fault(at, hint, "it does not begin as an .npy file")
	}
	length, head := 0, 10
	switch version := data[6]; {
	case version == 1:
		length = int(binary.LittleEndian.Uint16(data[8:]))
	case (version == 2 || version == 3) && len(data) >= 12:
		length, head = int(binary.LittleEndian.Uint32(data[8:])), 12
	default:
		return fault(at+6, hint, "version %d.%d of the format is unknown", data[6], data[7])
	}
	if length > npyMaxHeader || length > len(data)-head {
		return fault(at+8, hint, "a header of %d bytes; at most %d are possible, and the file has %d", length, npyMaxHeader, len(data)-head)
	}
	d := &dictReader{text: string(data[head : head+length]), at: at + int64(head)}
	if err := d.read(t); err != nil {
		return err
	}
	all := int64(len(data))
	if t.deflated {
		all = t.bytes
	}
	n, ok := product(t.Shape, t.Size)
	if !ok || n != all-int64(head+length) {
		return fault(at+int64(head), "the file is damaged, or has more than one array",
			"a shape of [%s] with elements of %d bytes does not fill the %d bytes behind the header",
			joined(t.Shape, ", "), t.Size, all-int64(head+length))
	}
	t.bytes = n
	if t.skip = int64(head + length); !t.deflated {
		t.offset = at + t.skip
	}
	return nil
}

// dictReader reads the header's dictionary; text[i:] is not read yet.
type dictReader struct {
	text string
	i    int
	at   int64 // of text in the file
}

func (d *dictReader) bad(format string, args ...any) *Error {
	return fault(d.at+int64(d.i), "the header is damaged", format, args...)
}

// skip skips spaces, and also want if want follows.
func (d *dictReader) skip(want string) bool {
	d.i += len(d.text[d.i:]) - len(strings.TrimLeft(d.text[d.i:], " \n"))
	if want == "" || !strings.HasPrefix(d.text[d.i:], want) {
		return false
	}
	d.i += len(want)
	return true
}

// quoted reads a string without escapes.
func (d *dictReader) quoted(what string) (string, error) {
	for _, q := range []string{"'", `"`} {
		if !d.skip(q) {
			continue
		}
		s, _, ok := strings.Cut(d.text[d.i:], q)
		if !ok || strings.Contains(s, `\`) {
			return "", d.bad("%s does not end", what)
		}
		d.i += len(s) + 1
		return s, nil
	}
	if what == "descr" {
		return "", fault(d.at+int64(d.i), "save its fields one by one", "the array's type is made of fields")
	}
	return "", d.bad("%s must be a string", what)
}

func (d *dictReader) read(t *Tensor) error {
	seen := map[string]bool{}
	if !d.skip("{") {
		return d.bad("the header is no dictionary")
	}
	for !d.skip("}") {
		key, err := d.quoted("a key")
		if err != nil {
			return err
		}
		if seen[key] || !d.skip(":") {
			return d.bad("key %s is there twice, or without a value", shorten(key))
		}
		seen[key] = true
		switch key {
		case "descr":
			t.Said, err = d.quoted("descr")
		case "fortran_order":
			if t.fortran = d.skip("True"); !t.fortran && !d.skip("False") {
				err = d.bad("fortran_order must be True or False")
			}
		case "shape":
			t.Shape, err = d.shape()
		default:
			err = d.bad("key %s means nothing", shorten(key))
		}
		if err != nil {
			return err
		}
		if !d.skip(",") {
			if !d.skip("}") {
				return d.bad("a comma or a brace is missing")
			}
			break
		}
	}
	if d.skip(""); d.i != len(d.text) {
		return d.bad("the header goes on behind its end")
	}
	if len(seen) != 3 {
		return d.bad("the header must have descr, fortran_order and shape")
	}
	return d.typed(t)
}

// shape reads a tuple of whole numbers.
func (d *dictReader) shape() ([]int, error) {
	shape := []int{}
	if !d.skip("(") {
		return nil, d.bad("shape must be a tuple")
	}
	for !d.skip(")") {
		d.skip("")
		rest := d.text[d.i:]
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, d.bad("shape has what is no whole number from 0 to 2^63-1")
		}
		d.i += len(digits)
		d.skip("L") // of Python 2
		if shape = append(shape, int(n)); len(shape) > maxDims {
			return nil, d.bad("shape has more than %d dimensions", maxDims)
		}
		if !d.skip(",") {
			if !d.skip(")") {
				return nil, d.bad("a comma or a parenthesis is missing")
			}
			break
		}
	}
	return shape, nil
}

// typed reads numpy's description of a type: the byte order, a letter, the size of an element.
func (d *dictReader) typed(t *Tensor) error {
	if len(t.Said) < 2 || !strings.Contains("<>=|", t.Said[:1]) {
		return d.bad("descr %s is unknown", shorten(t.Said))
	}
	order, letter := t.Said[0], t.Said[1]
	if letter == 'O' {
		return d.bad("descr %s is of Python objects, which only Python can load", shorten(t.Said))
	}
	size, err := strconv.ParseUint(t.Said[2:], 10, 16)
	if err != nil || size == 0 || !strings.ContainsRune("biufcV", rune(letter)) {
		return d.bad("descr %s is of no numbers", shorten(t.Said))
	}
	if order == '>' && size > 1 {
		return fault(d.at, "save it by x.astype(x.dtype.newbyteorder('<'))", "its numbers are big-endian")
	}
	t.Size = int(size)
	for known, said := range npyTypes {
		if said[1:] == t.Said[1:] && said != "<V1" { // "<V1" may be any type of one byte
			t.Type = known
		}
	}
	return nil
}

// npyHeader is the header that numpy.save writes.
func npyHeader(o *Output) []byte {
	tuple := joined(o.Shape, ", ")
	if len(o.Shape) == 1 {
		tuple += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", npyTypes[o.Type], tuple)
	if len(o.Shape) > 0 {
		text += strings.Repeat(" ", npyGrowth-len(strconv.Itoa(o.Shape[0])))
	}
	const head = len(npyMagic) + 4
	fill := npyAlign - (head+len(text)+1)%npyAlign
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)+1+fill))
	return append(append(b, text...), strings.Repeat(" ", fill)+"\n"...)
}
