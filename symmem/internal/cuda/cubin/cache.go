package cubin

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// cache is a folder of compiled units. It only ever saves time: whatever fails in it is answered by compiling.
type cache struct{ dir string }

// maxEntries bounds the folder; an entry is some tens of KiB. The least recently used go first.
const maxEntries = 2048

// openCache uses $SYMMREPL_CACHE, else the user's cache folder, else a folder for temporary files.
func openCache(getenv func(string) string) cache {
	dir := getenv("SYMMREPL_CACHE")
	if dir == "" {
		if user, err := os.UserCacheDir(); err == nil {
			dir = filepath.Join(user, "symmrepl")
		}
	}
	temp := filepath.Join(os.TempDir(), "symmrepl-"+strconv.Itoa(os.Getuid()))
	for _, d := range []string{dir, temp} {
		if d == "" {
			continue
		}
		d = filepath.Join(d, "cubin")
		if os.MkdirAll(d, 0o700) == nil && writable(d) {
			return cache{d}
		}
	}
	return cache{}
}

// writable reports whether this user owns the folder and nobody else may write to it: cubins are code.
func writable(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && syscall.Access(dir, 2 /* W_OK */) == nil
}

func (c cache) usable() bool { return c.dir != "" }

// key names a unit's entry. The compiler is told apart by its file, so that a hit need not load it.
func (c *Compiler) key(u Unit) string {
	h := sha256.New()
	field := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	field(source(u))
	field(u.Name)
	for _, part := range u.Headers {
		field(part[0])
		field(part[1])
	}
	field("options")
	for _, o := range c.options {
		field(o)
	}
	field("expressions")
	for _, e := range u.Expressions {
		field(e)
	}
	if len(c.found) > 0 {
		field(identity(c.found[0].Path))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// identity tells one file from another, and from what it was before an update.
func identity(path string) string {
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

func (c cache) path(key string) string { return filepath.Join(c.dir, key) }

func (c cache) get(key string) (Binary, bool) {
	data, err := os.ReadFile(c.path(key))
	if err != nil {
		return Binary{}, false
	}
	b, err := decode(data)
	if err != nil {
		os.Remove(c.path(key))
		return Binary{}, false
	}
	now := time.Now()
	os.Chtimes(c.path(key), now, now)
	return b, true
}

// put stores an entry so that nobody ever sees a part of it.
func (c cache) put(key string, b Binary) {
	f, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(encode(b))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(key))
	}
	if err != nil {
		os.Remove(f.Name())
		return
	}
	c.prune(maxEntries)
}

// prune leaves three quarters of limit when there are more.
func (c cache) prune(limit int) {
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) <= limit {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, f := range files[:max(0, len(files)-limit*3/4)] {
		os.Remove(filepath.Join(c.dir, f.Name()))
	}
}

// lock makes this process the one that compiles key, and returns how to end that. The files it locks are few and stay:
// keys share them, which costs a wait now and then but nothing else.
func (c cache) lock(key string) (unlock func()) {
	dir := filepath.Join(c.dir, "locks")
	if os.MkdirAll(dir, 0o700) != nil {
		return func() {}
	}
	f, err := os.OpenFile(filepath.Join(dir, key[:2]), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return func() {}
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	return func() { f.Close() }
}

// An entry is the magic line, a checksum of the rest, the length of the names, the names, the cubin.
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
	b := Binary{Cubin: bytes.Clone(body[n:])} // aligned, as an ELF file's readers expect
	if err := json.Unmarshal(body[:n], &b.Lowered); err != nil {
		return Binary{}, errEntry
	}
	return b, nil
}
