package symmem

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// choice is which way one call went.
type choice struct {
	call  Record
	bytes int
	path  string // "packets"
	why   string
}

// String is "all_reduce bf16[2048] sum on world (4 ranks, 4096 bytes): packets, because ...".
func (c choice) String() string {
	return fmt.Sprintf("%s on %v (%d ranks, %d bytes): %s, because %s", c.call.Text(), c.call.group, len(c.call.group.ranks), c.bytes, c.path, c.why)
}

// Explain calls f and returns a line for each operation that f issued and that has several ways to do its
// work, as puts, gets, signals and barriers have, which stay within the host or go over a network: what was
// called, on how many ranks and bytes, which way it went, and why. It is not collective, and waits for nothing.
func (rt *Runtime) Explain(f func()) string {
	rt.refuseClosed("Explain")
	rt.needFunction("Explain", f)
	rt.mu.Lock()
	outer := rt.choices
	mine := new([]choice)
	rt.choices = mine
	rt.mu.Unlock()
	defer func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		if rt.choices = outer; outer != nil {
			*outer = append(*outer, *mine...)
		}
	}()
	f()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	lines := make([]string, len(*mine))
	for i, c := range *mine {
		lines[i] = c.String()
	}
	return strings.Join(lines, "\n")
}

// Chose notes for Explain which way an admitted call goes. bytes is the size that the choice was made by.
func (c *Call) Chose(bytes int, w *tuning.Way) {
	if list := c.rt.choices; list != nil {
		*list = append(*list, choice{c.Record, bytes, w.Path, w.Why})
	}
}
