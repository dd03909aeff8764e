package cubin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// heads are the precompiled headers of units: one for each list of Includes, with the texts of the
// headers and the options. NVRTC stores addresses of this process in them, so that no other process
// can use them.
type heads struct {
	scratch string // the folder for temporary files

	mu   sync.Mutex // held while NVRTC makes or uses a precompiled header
	made map[string]*os.File
}

func (h *heads) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, file := range h.made {
		if file != nil {
			file.Close()
		}
	}
	h.made = nil
}

// head is the beginning of a unit's source, which includes its headers.
func head(u Unit) string {
	var b strings.Builder
	for _, name := range u.Includes {
		b.WriteString("#include \"" + name + "\"\n")
	}
	return b.String()
}

// compile compiles a request for a unit, with the unit's precompiled headers; the first request for
// a list of headers makes them.
func (h *heads) compile(n clib.NVRTC, u Unit, r clib.Request) (code []byte, lowered []string, log string, err error) {
	if !precompiles(n, u) {
		return n.Compile(r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	file := h.file(n, u, r.Options)
	if file == nil {
		return n.Compile(r)
	}
	with := r
	with.Source = source(u, "#pragma nv_hdrstop\n")
	with.Options = append(slices.Clone(r.Options), fmt.Sprintf("--use-pch=/proc/self/fd/%d", file.Fd()), "--pch-messages=false")
	if code, lowered, log, err = n.Compile(with); errors.Is(err, clib.ErrSource) && lost.MatchString(log) {
		return n.Compile(r)
	}
	return code, lowered, log, err
}

// lost matches a log whose error has no line of the source: NVRTC could not use its own files.
var lost = regexp.MustCompile(`(?m)^Catastrophic error`)

// prepare makes the precompiled headers of a unit.
func (h *heads) prepare(n clib.NVRTC, u Unit, options []string) {
	if precompiles(n, u) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.file(n, u, options)
	}
}

// precompiles reports whether a unit has headers that can be precompiled.
func precompiles(n clib.NVRTC, u Unit) bool { return len(u.Includes) > 0 && n.Precompiles() }

// file returns the precompiled headers of a unit, or nil if NVRTC cannot make them. The caller holds
// the lock. NVRTC does not compare the texts of headers that it was given without a file: they are
// part of the key.
func (h *heads) file(n clib.NVRTC, u Unit, options []string) *os.File {
	fields := slices.Concat(u.Includes, []string{"options"}, options, []string{"headers"})
	for _, header := range u.Headers {
		fields = append(fields, header[0], header[1])
	}
	key := kernelcache.Key(fields...)
	if file, known := h.made[key]; known {
		return file
	}
	if h.made == nil {
		h.made = map[string]*os.File{}
	}
	file, err := precompile(h.scratch, n, u, options)
	if err != nil {
		file = nil // the unit compiles without, only slower
	}
	h.made[key] = file
	return file
}

// precompile has NVRTC write precompiled headers, in a file that has lost its name when precompile
// returns, and ends with this process. NVRTC writes only into a file that it makes itself.
func precompile(scratch string, n clib.NVRTC, u Unit, options []string) (*os.File, error) {
	dir, err := os.MkdirTemp(scratch, "symmrepl-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "headers.pch")
	_, _, _, err = n.Compile(clib.Request{
		Source: head(u) + "#pragma nv_hdrstop\n", Name: u.Name, Headers: u.Headers,
		Options: append(slices.Clone(options), "--create-pch="+path, "--pch-messages=false"),
	})
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
