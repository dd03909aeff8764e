package inband

import (
	"bytes"
	"os"
	"sync/atomic"
	"unicode/utf8"
)

// own is the standard output that the session reads: os.Stdout when SetOrder was called.
var own atomic.Pointer[output]

type output struct {
	file *os.File
	info os.FileInfo
}

func newOutput(file *os.File) *output {
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	return &output{file, info}
}

// isCurrent reports whether os.Stdout is still this output: code of cells may replace the variable
// and the descriptor.
func (o *output) isCurrent() bool {
	if o == nil || os.Stdout != o.file {
		return false
	}
	info, err := o.file.Stat()
	return err == nil && os.SameFile(info, o.info)
}

// WriteText writes the text of one call, such as of fmt.Println, to os.Stdout, in order with standard
// error. If the text has several lines and the session reads it, the lines are a block: where it
// differs between ranks, the session shows the block of each rank as a whole.
func WriteText(text []byte) (n int, err error) {
	if isBlock(text) && own.Load().isCurrent() {
		if b, err := Encode(Display{Block: true, Data: map[string]any{"text/plain": string(text)}}); err == nil {
			if _, err := Write(b); err != nil {
				return 0, err
			}
			return len(text), nil
		}
	}
	return Write(text)
}

// isBlock reports whether text has more than one line, all whole. JSON keeps only UTF-8.
func isBlock(text []byte) bool {
	line := bytes.IndexByte(text, '\n')
	return line >= 0 && line < len(text)-1 && text[len(text)-1] == '\n' && utf8.Valid(text)
}
