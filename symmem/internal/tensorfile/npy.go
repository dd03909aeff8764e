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
	npyHint      = "is it a file that numpy.save wrote?"
	npyGrowth    = 21 // the width that numpy leaves for the first dimension
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
	if len(data) < 10 || string(data[:6]) != npyMagic {
		return fault(at, npyHint, "it does not begin as an .npy file")
	}
	length, head := 0, 10
	switch version := data[6]; {
	case version == 1:
		length = int(binary.LittleEndian.Uint16(data[8:]))
	case (version == 2 || version == 3) && len(data) >= 12:
		length, head = int(binary.LittleEndian.Uint32(data[8:])), 12
	default:
		return fault(at+6, npyHint, "version %d.%d of the format is unknown", data[6], data[7])
	}
	if length > npyMaxHeader {
		return fault(at+8, "save fewer fields, each as an array of its own", "a header of %d bytes; Load reads at most %d, as numpy.load does", length, npyMaxHeader)
	}
	if length > len(data)-head {
		return fault(at+8, "the file is cut short", "a header of %d bytes, of which %d are there", length, len(data)-head)
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
	if t.Size == 0 { // the bytes of elements that cannot be read
		n, ok = all-int64(head+length), true
	}
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
	return "", d.bad("%s must be a string", what)
}

// list reads a list, of strings, numbers, tuples and lists, and returns its text.
func (d *dictReader) list() (string, error) {
	from, open := d.i, 0
	for d.i < len(d.text) {
		switch c := d.text[d.i]; c {
		case '[', '(':
			open++
		case ']', ')':
			open--
		case '\'', '"':
			if _, err := d.quoted("a name"); err != nil {
				return "", err
			}
			continue
		}
		if d.i++; open == 0 {
			return d.text[from:d.i], nil
		}
	}
	return "", d.bad("a list does not end")
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
			if d.skip(""); strings.HasPrefix(d.text[d.i:], "[") {
				t.Said, err = d.list()
				t.foreign = structs(t.Said)
			} else {
				t.Said, err = d.quoted("descr")
			}
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
			return nil, d.bad("shape has a value that is no whole number from 0 to 2^63-1")
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

// typed finds the type that numpy's description names: the byte order, a letter, the size of an element.
func (d *dictReader) typed(t *Tensor) error {
	if t.foreign != (foreign{}) {
		return nil
	}
	unknown := fault(d.at, npyHint, "descr %s is no type of numpy", shorten(t.Said))
	if len(t.Said) < 2 || !strings.Contains("<>=|", t.Said[:1]) {
		return unknown
	}
	for known, said := range npyTypes {
		if said[1:] == t.Said[1:] && said != "<V1" && (t.Said[0] != '>' || known.Size() == 1) { // "<V1" may be any type of one byte
			t.Type, t.Size = known, known.Size()
			return nil
		}
	}
	var ok bool
	if t.foreign, t.Size, ok = foreignArray(t.Said); !ok {
		return unknown
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
