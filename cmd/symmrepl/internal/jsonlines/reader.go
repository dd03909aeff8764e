// Package jsonlines reads messages that are lines of JSON from a program that may send anything: a
// line that is too long is skipped, and the lines after it are read.
package jsonlines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong reports a line that is longer than a Reader takes. Next can be called again.
var ErrTooLong = errors.New("the line is too long")

// Reader reads lines.
type Reader struct {
	in  *bufio.Reader
	max int
}

// NewReader returns a Reader for lines of at most max bytes.
func NewReader(in io.Reader, max int) *Reader { return &Reader{bufio.NewReader(in), max} }

// Next returns the next line that is not blank, without white space at its ends. The caller owns
// it. Errors: ErrTooLong; the errors of the underlying reader, io.EOF at its end.
func (r *Reader) Next() ([]byte, error) {
	for {
		var line []byte
		tooLong := false
		for {
			part, err := r.in.ReadSlice('\n')
			tooLong = tooLong || len(line)+len(part) > r.max
			if tooLong {
				line = nil
			} else {
				line = append(line, part...)
			}
			if err == nil {
				break
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if errors.Is(err, io.EOF) && (tooLong || len(bytes.TrimSpace(line)) > 0) {
				break // the next call returns the error
			}
			return nil, err
		}
		if tooLong {
			return nil, ErrTooLong
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}
