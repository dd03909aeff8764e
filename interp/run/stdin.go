package run

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// stdin replaces standard input in cells, because a worker's own is empty: the functions below read from it when they are given os.Stdin.
type stdin struct {
	input io.Reader
	own   *bufio.Reader
}

func newStdin(input io.Reader) stdin {
	if input == nil {
		input = strings.NewReader("")
	}
	return stdin{input, bufio.NewReader(input)}
}

// begin forgets what an earlier cell has left of a line.
func (s stdin) begin() { s.own.Reset(s.input) }

// symbols are the functions by which programs read standard input. Yaegi has those of fmt that need no reader.
func (s stdin) symbols() Exports {
	return Exports{
		"fmt/fmt": {
			"Fscan":   reflect.ValueOf(func(r io.Reader, a ...any) (int, error) { return fmt.Fscan(s.of(r), a...) }),
			"Fscanln": reflect.ValueOf(func(r io.Reader, a ...any) (int, error) { return fmt.Fscanln(s.of(r), a...) }),
			"Fscanf": reflect.ValueOf(func(r io.Reader, format string, a ...any) (int, error) {
				return fmt.Fscanf(s.of(r), format, a...)
			}),
		},
		"bufio/bufio": {
			"NewReader":     reflect.ValueOf(func(r io.Reader) *bufio.Reader { return bufio.NewReader(s.of(r)) }),
			"NewReaderSize": reflect.ValueOf(func(r io.Reader, size int) *bufio.Reader { return bufio.NewReaderSize(s.of(r), size) }),
			"NewScanner":    reflect.ValueOf(func(r io.Reader) *bufio.Scanner { return bufio.NewScanner(s.of(r)) }),
		},
		"io/io": {
			"ReadAll": reflect.ValueOf(func(r io.Reader) ([]byte, error) { return io.ReadAll(s.of(r)) }),
		},
	}
}

// of returns r, or what takes the place of os.Stdin.
func (s stdin) of(r io.Reader) io.Reader {
	if r == io.Reader(os.Stdin) {
		return s.own
	}
	return r
}
