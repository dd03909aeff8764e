package tensorfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// The format: 8 bytes with the length of the header, little-endian; the header, JSON that may be
// filled up with spaces; the elements of all tensors, without gaps.

const (
	lengthBytes   = 8
	maxHeader     = 100_000_000 // the limit of the format's own library
	metadataEntry = "__metadata__"
	rewrite       = "write the file again, by safetensors.torch.save_file or numpy.save_file"
)

// safetensorsTypes are the format's types that tensors can have, in the order in which elements are
// written: types with the strictest alignment come first.
var safetensorsTypes = []struct {
	name string
	t    element.Type
}{
	{"U64", element.U64}, {"I64", element.I64}, {"F64", element.F64}, {"C64", element.C64}, {"F32", element.F32}, {"U32", element.U32},
	{"I32", element.I32}, {"BF16", element.BF16}, {"F16", element.F16}, {"U16", element.U16}, {"I16", element.I16},
	{"F8_E4M3", element.F8E4M3}, {"F8_E5M2", element.F8E5M2}, {"I8", element.I8}, {"U8", element.U8}, {"BOOL", element.Bool},
}

// otherBits are the element sizes, in bits, of the format's other types.
var otherBits = map[string]int{"F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
	"F6_E2M3": 6, "F6_E3M2": 6, "F4": 4}

func (f *File) readSafetensors() error {
	const hint = "is it a safetensors file, and whole?"
	if len(f.data) < lengthBytes {
		return fault(0, hint, "%s: too few for a header", count.Of(len(f.data), "byte"))
	}
	n := binary.LittleEndian.Uint64(f.data)
	if n > maxHeader {
		return fault(0, hint, "a header of %d bytes; at most %d are possible", n, maxHeader)
	}
	if n > uint64(len(f.data)-lengthBytes) {
		return fault(0, hint, "a header of %d bytes in a file of %d", n, len(f.data))
	}
	header := bytes.Clone(f.data[lengthBytes : lengthBytes+n]) // the file may change while it is read
	if n == 0 || header[0] != '{' {
		return fault(lengthBytes, hint, "the header does not begin with {")
	}
	if !utf8.Valid(header) {
		return fault(lengthBytes, hint, "the header is not UTF-8")
	}
	h := &headerReader{d: json.NewDecoder(bytes.NewReader(header)), start: int64(lengthBytes + n), file: f}
	h.d.UseNumber()
	if err := h.read(); err != nil {
		return err
	}
	return f.checkRanges(h.start)
}

// checkRanges refuses tensors that overlap, gaps between tensors, and bytes outside of all tensors. start
// is the offset of the elements, from which data_offsets count.
func (f *File) checkRanges(start int64) error {
	ordered := slices.Clone(f.Tensors)
	slices.SortFunc(ordered, func(a, b *Tensor) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.bytes, b.bytes))
	})
	at, last := start, "" // the end of the tensors that were compared, and which of them ends there
	for _, t := range ordered {
		offsets := fmt.Sprintf("data_offsets [%d, %d]", t.offset-start, t.offset+t.bytes-start)
		switch {
		case t.offset < at:
			return fault(t.offset, rewrite, "its %s overlap those of %s, which end at %d", offsets, last, at-start).of(t.Name)
		case t.offset > at && last == "":
			return fault(at, rewrite, "its %s are the first, behind %s of no tensor", offsets, count.Of(t.offset-at, "byte")).of(t.Name)
		case t.offset > at:
			return fault(at, rewrite, "its %s come behind those of %s, which end at %d, and %s of no tensor",
				offsets, last, at-start, count.Of(t.offset-at, "byte")).of(t.Name)
		}
		if at += t.bytes; t.bytes > 0 || last == "" {
			last = "tensor " + shorten(t.Name)
		}
	}
	if end := int64(len(f.data)); at != end {
		return fault(at, rewrite, "the file ends with %s of no tensor: data_offsets end at %d, and the file has %s of elements",
			count.Of(end-at, "byte"), at-start, count.Of(end-start, "byte"))
	}
	return nil
}

// headerReader reads the JSON of a header token by token. A header has three levels; the beginning of a
// fourth level is an error.
type headerReader struct {
	d     *json.Decoder
	start int64 // of the elements
	file  *File
}

// bad returns a fault at the current position.
func (h *headerReader) bad(format string, args ...any) *Error {
	return fault(h.at(), "the header is damaged: "+rewrite, format, args...)
}

// at returns the current position in the file.
func (h *headerReader) at() int64 { return lengthBytes + h.d.InputOffset() }

// token returns the next token: a json.Delim, string, json.Number, bool or nil.
func (h *headerReader) token() (json.Token, error) {
	t, err := h.d.Token()
	if err != nil {
		return nil, h.bad("the header is not JSON: %v", err)
	}
	return t, nil
}

// open reads an opening bracket.
func (h *headerReader) open(bracket json.Delim, what string) error {
	t, err := h.token()
	if err != nil {
		return err
	}
	if t != bracket {
		return h.bad("%s must begin with %v, not with %s", what, bracket, describe(t))
	}
	return nil
}

// text reads a string.
func (h *headerReader) text(what string) (string, error) {
	t, err := h.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", h.bad("%s must be a string, not %s", what, describe(t))
	}
	return s, nil
}

// numbers reads an array of at most `most` whole numbers below 2^63.
func (h *headerReader) numbers(what string, most int) (list []int, err error) {
	if err := h.open('[', what); err != nil {
		return nil, err
	}
	for h.d.More() {
		t, err := h.token()
		if err != nil {
			return nil, err
		}
		number, _ := t.(json.Number)
		n, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil || n < 0 || string(number) == "-0" {
			return nil, fault(h.at(), rewrite, "%s has %s, which is no whole number from 0 to 2^63-1", what, describe(t))
		}
		if list = append(list, int(n)); len(list) > most {
			return nil, fault(h.at(), rewrite, "%s has more than %d numbers", what, most)
		}
	}
	_, err = h.token()
	return list, err
}

// describe returns a token as text.
func describe(t json.Token) string {
	switch t := t.(type) {
	case string:
		return shorten(t)
	case nil:
		return "null"
	}
	return fmt.Sprintf("%.40v", t)
}

// object reads an object and calls entry for each value.
func (h *headerReader) object(what string, entry func(key string) error) error {
	if err := h.open('{', what); err != nil {
		return err
	}
	seen := map[string]bool{}
	for h.d.More() {
		key, err := h.text("a name")
		if err != nil {
			return err
		}
		if seen[key] {
			return h.bad("%s has %s twice", what, shorten(key))
		}
		seen[key] = true
		if err := entry(key); err != nil {
			return err
		}
	}
	_, err := h.token()
	return err
}

func (h *headerReader) read() error {
	err := h.object("the header", func(key string) error {
		if key == metadataEntry {
			return h.object(metadataEntry, func(key string) error {
				_, err := h.text("the metadata of " + shorten(key))
				return err
			})
		}
		return h.tensor(key)
	})
	if err != nil {
		return err
	}
	if t, err := h.d.Token(); err != io.EOF {
		return h.bad("the header goes on behind its end with %s", describe(t))
	}
	return nil
}

func (h *headerReader) tensor(name string) error {
	t := &Tensor{Name: name, file: h.file, Shape: []int{}}
	var offsets []int
	given := 0
	err := h.object("the entry", func(key string) (err error) {
		given++
		switch key {
		case "dtype":
			t.Said, err = h.text("dtype")
		case "shape":
			t.Shape, err = h.numbers("shape", maxDims)
		case "data_offsets":
			offsets, err = h.numbers("data_offsets", 2)
		default:
			err = h.bad("the entry has %s, which means nothing", shorten(key))
		}
		return err
	})
	switch {
	case err != nil:
	case given != 3 || len(offsets) != 2:
		err = h.bad("the entry must have dtype, shape and two data_offsets")
	default:
		err = h.place(t, offsets[0], offsets[1])
	}
	if e, ok := err.(*Error); ok && e.Tensor == "" {
		e.Tensor = name
	}
	if err == nil {
		h.file.Tensors = append(h.file.Tensors, t)
	}
	return err
}

// place checks a tensor's type and shape against its range.
func (h *headerReader) place(t *Tensor, from, to int) error {
	bits := otherBits[t.Said]
	for _, known := range safetensorsTypes {
		if known.name == t.Said {
			t.Type, bits = known.t, 8*known.t.Size()
		}
	}
	if bits == 0 {
		return fault(h.at(), "Load reads "+knownTypes(), "dtype %s is unknown", shorten(t.Said))
	}
	if t.Size = bits / 8; bits%8 != 0 {
		t.foreign = foreign{fmt.Sprintf("its elements are %s, of %d bits", t.Said, bits), "save it as F8_E4M3, or its bytes as U8"}
	}
	room := int64(len(h.file.data)) - h.start
	switch n, ok := product(t.Shape, bits); {
	case from > to:
		return fault(h.at(), rewrite, "data_offsets are [%d, %d]: the end comes before the beginning", from, to)
	case int64(to) > room:
		return fault(h.at(), "is the file cut short? "+rewrite, "data_offsets are [%d, %d], and the file has %s of elements", from, to, count.Of(room, "byte"))
	case !ok || n%8 != 0 || n/8 != int64(to-from):
		return fault(h.at(), rewrite, "a shape of [%s] with elements of %d bits, dtype %s, does not fill the %d bytes of data_offsets [%d, %d]",
			joined(t.Shape, ", "), bits, t.Said, to-from, from, to)
	}
	t.offset, t.bytes = h.start+int64(from), int64(to-from)
	return nil
}

// knownTypes lists the types that tensors can have.
func knownTypes() string {
	var list []string
	for _, known := range safetensorsTypes {
		list = append(list, known.name)
	}
	return strings.Join(list, ", ")
}

// product returns the size of a shape with elements of that size; false if no file can be that large.
func product(shape []int, size int) (int64, bool) {
	n := uint64(size)
	for _, d := range shape {
		if d == 0 {
			return 0, true
		}
	}
	for _, d := range shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > 1<<62 {
			return 0, false
		}
		n = lo
	}
	return int64(n), true
}

// safetensorsRank returns the place of a type in safetensorsTypes, -1 if the format lacks the type.
func safetensorsRank(e element.Type) int {
	for i, known := range safetensorsTypes {
		if known.t == e {
			return i
		}
	}
	return -1
}

// safetensorsHeader lays out tensors as the format's own library does, and returns the bytes before
// their elements.
func safetensorsHeader(list []*Output) []byte {
	slices.SortFunc(list, func(a, b *Output) int {
		return cmp.Or(cmp.Compare(safetensorsRank(a.Type), safetensorsRank(b.Type)), strings.Compare(a.Name, b.Name))
	})
	header := make([]byte, lengthBytes, 1024)
	header = append(header, '{')
	at := int64(0)
	for i, o := range list {
		if i > 0 {
			header = append(header, ',')
		}
		header = appendString(header, o.Name)
		header = fmt.Appendf(header, `:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}`, safetensorsTypes[safetensorsRank(o.Type)].name,
			joined(o.Shape, ","), at, at+o.bytes)
		o.offset = at
		at += o.bytes
	}
	header = append(header, '}')
	for len(header)%8 != 0 {
		header = append(header, ' ')
	}
	binary.LittleEndian.PutUint64(header, uint64(len(header)-lengthBytes))
	for _, o := range list {
		o.offset += int64(len(header))
	}
	return header
}

// appendString appends a string of JSON with the escapes that the format's own library uses.
func appendString(b []byte, s string) []byte {
	short := map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case short[c] != 0:
			b = append(b, '\\', short[c])
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// joined returns "2, 3".
func joined(shape []int, sep string) string {
	var list []string
	for _, d := range shape {
		list = append(list, strconv.Itoa(d))
	}
	return strings.Join(list, sep)
}
