package executions

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// stdin is the standard input of cells. If it is the standard input of this process, cells read
// os.Stdin like any program. If it is another reader, such as one that asks the user for lines, the
// functions below read from that reader whenever they are given the os.Stdin of this process, whose
// file is empty.
type stdin struct {
	file *os.File      // os.Stdin when the session began
	own  *bufio.Reader // the reader to use instead of file, or nil
	from io.Reader     // the source of own
}

// newStdin returns the standard input for the reader input; nil means empty.
func newStdin(input io.Reader) stdin {
	s := stdin{file: os.Stdin}
	if input != nil && input != io.Reader(os.Stdin) {
		s.from, s.own = input, bufio.NewReader(input)
	}
	return s
}

// begin discards the rest of a line that was typed for an earlier cell.
func (s stdin) begin() {
	if s.own != nil {
		s.own.Reset(s.from)
	}
}

// Stdin returns the functions with which programs read standard input.
func (es *Executions) Stdin() contract.Exports { return es.stdin.symbols() }

// symbols returns the functions with which programs read standard input.
func (s stdin) symbols() contract.Exports {
	return contract.Exports{
		"fmt/fmt": {
			"Scan":    reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fscan(s.of(os.Stdin), a...) }),
			"Scanln":  reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fscanln(s.of(os.Stdin), a...) }),
			"Scanf":   reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fscanf(s.of(os.Stdin), format, a...) }),
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
		"encoding/csv/csv":   {"NewReader": reflect.ValueOf(func(r io.Reader) *csv.Reader { return csv.NewReader(s.of(r)) })},
		"encoding/json/json": {"NewDecoder": reflect.ValueOf(func(r io.Reader) *json.Decoder { return json.NewDecoder(s.of(r)) })},
		"io/io": {
			"Copy":    reflect.ValueOf(func(w io.Writer, r io.Reader) (int64, error) { return io.Copy(w, s.of(r)) }),
			"ReadAll": reflect.ValueOf(func(r io.Reader) ([]byte, error) { return io.ReadAll(s.of(r)) }),
		},
	}
}

// of returns r, or the reader that replaces the file of standard input if r is that file.
func (s stdin) of(r io.Reader) io.Reader {
	if s.own != nil && r == io.Reader(s.file) {
		return s.own
	}
	return r
}
