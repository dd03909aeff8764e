package calls

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Made describes a call by its operation and arguments. N and DType are the elements of a
// collective call, 0 if it takes none; Reduction is empty if the call does not reduce.
type Made struct {
	Op        string
	DType     element.Type
	N         int
	Reduction string
	Detail    string // what else distinguishes it
	Parts     Digest // of the parts of symmetric tensors that all members must give alike
}

// Text is the call as the user would write it: "one_shot_all_reduce bf16[16] sum".
func (m *Made) Text() string {
	if m.DType == 0 {
		return m.Op
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %v[%d] %s %s", m.Op, m.DType, m.N, m.Reduction, m.Detail)), " ")
}

// Count numbers the collective calls of a group and digests them in order. Members with equal
// counts have made the same calls.
type Count struct {
	Calls  uint64
	Digest Digest
}

// Add counts a call and returns its number, from 1 on.
func (c *Count) Add(m *Made) uint64 {
	c.Calls++
	d := &c.Digest
	d.Text(m.Op)
	d.Text(m.Reduction)
	d.Text(m.Detail)
	d.Mix(uint64(m.DType))
	d.Mix(uint64(m.N))
	d.Mix(uint64(m.Parts))
	return c.Calls
}

// Digest distinguishes sequences of numbers and texts (FNV-1a).
type Digest uint64

// Mix adds a number.
func (d *Digest) Mix(x uint64) { *d = (*d ^ 14695981039346656037 ^ Digest(x)) * 1099511628211 }

// Text adds a text.
func (d *Digest) Text(s string) {
	for i := range len(s) {
		d.Mix(uint64(s[i]))
	}
	d.Mix(1 << 8) // no byte: an end
}
