// Package frame defines the unit of all messages between the processes of a session or a program: a
// JSON header and raw bytes.
//
// A frame is a 4-byte length of the rest of the frame, a 4-byte length of the header, the header,
// and the payload; lengths are big-endian. The header carries small data that may change between
// versions; the payload carries large data that is passed on unread. The reader bounds both, and
// allocates memory only for bytes that have arrived. A Beat may stand between frames.
package frame

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// MaxHeader bounds the header of a frame, in bytes.
const MaxHeader = 64 << 20

// Beat is sent as a sign of life: two lengths of 0. Readers skip it.
const Beat = "\x00\x00\x00\x00\x00\x00\x00\x00"

// eager is the maximum that a reader allocates because of a length field alone, in bytes.
const eager = 256 << 10

// SizeError reports a frame whose lengths are not allowed. The stream cannot be read any further.
type SizeError struct {
	Header, Payload int // bytes announced
	Limit           int // bytes of payload allowed
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("frame with a header of %d and a payload of %d bytes is not allowed (limits %d and %d): the other end is not symmrepl or another version of it",
		e.Header, e.Payload, MaxHeader, e.Limit)
}

// HeaderError reports a header that is not JSON of the expected form. The next frame can be read.
type HeaderError struct{ Err error }

func (e *HeaderError) Error() string { return fmt.Sprintf("frame header: %v", e.Err) }
func (e *HeaderError) Unwrap() error { return e.Err }

// Append appends one frame to buf.
func Append(buf []byte, header any, payload []byte) ([]byte, error) {
	h, err := json.Marshal(header)
	if err != nil {
		return buf, err
	}
	if len(h) > MaxHeader {
		return buf, &SizeError{Header: len(h), Payload: len(payload)}
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(4+len(h)+len(payload)))
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(h)))
	buf = append(buf, h...)
	return append(buf, payload...), nil
}

// Writer writes whole frames. It may be used from several goroutines.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// NewWriter returns a Writer on w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes one frame in one call of the underlying writer.
func (w *Writer) Write(header any, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	buf, err := Append(w.buf[:0], header, payload)
	if err != nil {
		return err
	}
	if cap(buf) <= eager {
		w.buf = buf
	}
	_, err = w.w.Write(buf)
	return err
}

// Reader reads frames. It belongs to one goroutine.
type Reader struct {
	r     *bufio.Reader
	limit int
	head  []byte
}

// NewReader returns a Reader of frames whose payloads have at most limit bytes.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Read decodes the next header into header, a pointer, and returns the payload, which the caller
// may keep. The error is io.EOF only between frames.
func (r *Reader) Read(header any) ([]byte, error) {
	var lengths [len(Beat)]byte
	for string(lengths[:]) == Beat {
		if _, err := io.ReadFull(r.r, lengths[:]); err != nil {
			return nil, err
		}
	}
	head, body, err := parts(lengths[:], r.limit)
	if err != nil {
		return nil, err
	}
	if r.head, err = r.bytes(r.head[:0], head); err != nil {
		return nil, err
	}
	var wrong error
	if err := json.Unmarshal(r.head, header); err != nil {
		wrong = &HeaderError{err}
	}
	if cap(r.head) > eager {
		r.head = nil
	}
	if body == 0 {
		return nil, wrong
	}
	payload, err := r.bytes(nil, body)
	return payload, cmp.Or(err, wrong)
}

// parts returns the lengths of the header and of the payload from the lengths of a frame.
func parts(lengths []byte, limit int) (head, body int, err error) {
	total := int(binary.BigEndian.Uint32(lengths[:4]))
	head = int(binary.BigEndian.Uint32(lengths[4:]))
	body = total - 4 - head
	if head > MaxHeader || body < 0 || body > limit {
		return 0, 0, &SizeError{Header: head, Payload: body, Limit: limit}
	}
	return head, body, nil
}

// Decode decodes the header of the frame at the beginning of buf into header, a pointer, and returns
// the payload, at most limit bytes in new memory, and the size of the frame in bytes. The size is 0
// if buf has only a part of the frame. No Beat may stand before the frame.
func Decode(buf []byte, limit int, header any) (payload []byte, size int, err error) {
	if len(buf) < len(Beat) {
		return nil, 0, nil
	}
	head, body, err := parts(buf, limit)
	if err != nil {
		return nil, 0, err
	}
	if size = len(Beat) + head + body; len(buf) < size {
		return nil, 0, nil
	}
	if err := json.Unmarshal(buf[len(Beat):len(Beat)+head], header); err != nil {
		return nil, 0, fmt.Errorf("frame header: %w", err)
	}
	if body > 0 {
		payload = bytes.Clone(buf[len(Beat)+head : size])
	}
	return payload, size, nil
}

// Rest returns the bytes after the last frame as a plain stream.
func (r *Reader) Rest() io.Reader { return r.r }

// bytes reads n bytes into buf's memory, or new memory that grows as they arrive.
func (r *Reader) bytes(buf []byte, n int) ([]byte, error) {
	var err error
	if n <= max(cap(buf), eager) {
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		_, err = io.ReadFull(r.r, buf)
	} else {
		var grown bytes.Buffer
		_, err = io.CopyN(&grown, r.r, int64(n))
		buf = grown.Bytes()
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return buf, err
}
