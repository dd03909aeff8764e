package supervisor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// crashQuiet is the time after which text that begins like a report of Go's runtime is treated
	// as output, if the worker prints nothing more.
	crashQuiet = 200 * time.Millisecond
	// crashQuietSure is the same for text that hardly any other code prints. The runtime asks one
	// thread after the other for its stack, and waits for each.
	crashQuietSure = 6 * time.Second
	// maxCrash bounds how much of a report is kept, in bytes.
	maxCrash = 1 << 20
)

// crashReport separates the report that Go's runtime writes to standard error when it ends a
// process, often a hundred lines and more, from the output of the process. Only when the process
// has ended is it known whether a line that looks like the beginning of a report is one; until then
// that line and all later text are held back.
type crashReport struct {
	show  func([]byte) // passes output on
	ended func() bool  // reports whether the process is ending

	mu      sync.Mutex
	inLine  bool // the last byte written was not the end of a line
	held    []byte
	expires *time.Timer   // set while text is held back
	quiet   time.Duration // the time after which expires fires
}

// write takes text that the process has written to standard error.
func (c *crashReport) write(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.expires == nil {
		n := c.begins(b)
		c.inLine = len(b) > 0 && b[len(b)-1] != '\n'
		if n > 0 {
			c.show(b[:n])
		}
		if b = b[n:]; len(b) == 0 {
			return
		}
		c.quiet = crashQuiet
		if surelyReport(b) {
			c.quiet = crashQuietSure
		}
		c.expires = time.AfterFunc(c.quiet, func() {
			if !c.ended() {
				c.release()
			}
		})
	}
	c.expires.Reset(c.quiet)
	c.held = append(c.held, b[:min(len(b), maxCrash-len(c.held))]...)
}

// begins returns the index in b at which a report may begin, len(b) if there is none.
func (c *crashReport) begins(b []byte) int {
	for at := 0; at < len(b); {
		if at > 0 || !c.inLine {
			for _, prefix := range runtimeReports {
				if bytes.HasPrefix(b[at:], []byte(prefix)) {
					return at
				}
			}
		}
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return len(b)
}

// surelyReport reports whether text begins in a way that hardly any text but a report of Go's
// runtime does.
func surelyReport(text []byte) bool {
	return bytes.HasPrefix(text, []byte("runtime/cgo: ")) || bytes.HasPrefix(text, []byte("SIG"))
}

// holds reports whether text is held back.
func (c *crashReport) holds() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expires != nil
}

// release passes on the text that is held back, as output.
func (c *crashReport) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if held := c.taken(); len(held) > 0 {
		c.show(held)
	}
}

// take returns the text that is held back, and drops it.
func (c *crashReport) take() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken()
}

// taken is take for a caller that holds c.mu.
func (c *crashReport) taken() []byte {
	if c.expires == nil {
		return nil
	}
	c.expires.Stop()
	held := c.held
	c.inLine = len(held) > 0 && held[len(held)-1] != '\n'
	c.held, c.expires = nil, nil
	return held
}

// advice lists the remedies of the user when Go's runtime has ended the process, by a part of its
// report.
var advice = []struct{ report, text string }{
	{"concurrent map", "goroutines that share a map need a sync.Mutex or a sync.Map"},
	{"failed to create new OS thread", "the user may have no more threads: `ulimit -u` raises the limit"},
	{"pthread_create failed", "the user may have no more threads: `ulimit -u` raises the limit"},
	{"cannot allocate", "the machine, or `ulimit -v`, permits no more memory"},
	{"out of memory", "the machine, or `ulimit -v`, permits no more memory"},
	{"stack exceeds", "calls of compiled code are nested too deep, as with data that contains itself"},
	{"goroutines are asleep", "they wait for events that can never come"},
}

// adviceFor returns the advice for a report of Go's runtime, "" if there is none.
func adviceFor(report string) string {
	head := report[:min(len(report), 1<<10)]
	for _, a := range advice {
		if strings.Contains(head, a.report) {
			return a.text
		}
	}
	return ""
}

// keepReport writes the report of the last crash of a rank to a file in dir, and returns the name
// of the file, or "" if it cannot be written.
func keepReport(dir string, rank int, report []byte) string {
	if dir == "" {
		return ""
	}
	name := filepath.Join(dir, fmt.Sprintf("crash-rank%d.txt", rank))
	if os.WriteFile(name, report, 0o600) != nil {
		return ""
	}
	return name
}
