package torchrun

import (
	"bytes"
	"fmt"
)

// unlabelled removes the label that PyTorch puts before each line of a traceback, such as "[rank3]: ". The
// lines of ranks that fail alike are then equal, and the fold has labels of its own.
type unlabelled struct {
	label  []byte
	inside bool // the text so far ends within a line
}

func newUnlabelled(rank int) *unlabelled {
	return &unlabelled{label: fmt.Appendf(nil, "[rank%d]: ", rank)}
}

// cut returns a text without labels. A label of which it has only the beginning or the end stays.
func (u *unlabelled) cut(text []byte) (out []byte) {
	for line := range bytes.Lines(text) {
		if !u.inside {
			line = bytes.TrimPrefix(line, u.label)
		}
		if len(line) > 0 {
			u.inside = line[len(line)-1] != '\n'
		}
		out = append(out, line...)
	}
	return out
}
