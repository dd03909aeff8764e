package cubin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// key names a unit's entry in the cache. The compiler is identified by its file, so that a hit need
// not load it.
func (c *Compiler) key(u Unit) string {
	fields := []string{source(u, ""), u.Name}
	for _, h := range u.Headers {
		fields = append(fields, h[0], h[1])
	}
	fields = append(append(append(fields, "options"), c.options...), u.Options...)
	if u.State != "" {
		fields = append(fields, "files", u.State)
	}
	fields = append(append(fields, "expressions"), u.Expressions...)
	if len(c.found) > 0 {
		fields = append(fields, Identity(c.found[0].Path))
	}
	return kernelcache.Key(fields...)
}

// Identity returns a text that differs between files, and before and after an update of a file.
func Identity(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	info, err := os.Stat(real)
	if err != nil {
		return real
	}
	return fmt.Sprintf("%s %d %d", real, info.Size(), info.ModTime().UnixNano())
}

// An entry is the magic line, a checksum of the rest, the length of the names, the names, the
// cubin.
const magic = "symmrepl cubin 1\n"

func encode(b Binary) []byte {
	names, err := json.Marshal(b.Lowered)
	if err != nil {
		panic(err) // a map of strings
	}
	body := binary.LittleEndian.AppendUint32(nil, uint32(len(names)))
	body = append(append(body, names...), b.Cubin...)
	sum := sha256.Sum256(body)
	return append(append([]byte(magic), sum[:]...), body...)
}

var errEntry = errors.New("not a cache entry")

func decode(data []byte) (Binary, error) {
	body, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(body) < sha256.Size+4 {
		return Binary{}, errEntry
	}
	sum := [sha256.Size]byte(body)
	body = body[sha256.Size:]
	if sha256.Sum256(body) != sum {
		return Binary{}, errEntry
	}
	n := int(binary.LittleEndian.Uint32(body))
	body = body[4:]
	if n > len(body) {
		return Binary{}, errEntry
	}
	b := Binary{Cubin: bytes.Clone(body[n:])} // aligned, as readers of ELF files expect
	if err := json.Unmarshal(body[:n], &b.Lowered); err != nil {
		return Binary{}, errEntry
	}
	return b, nil
}
