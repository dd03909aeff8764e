package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A write that fails leaves the file as it was, and nothing beside it.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	os.WriteFile(name, []byte("old"), 0o600)
	failed := errors.New("no")
	for _, name := range []string{name, filepath.Join(dir, "new")} {
		if err := Write(name, func(w io.Writer) error { io.WriteString(w, "half"); return failed }); err != failed {
			t.Error(err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%v are left", entries)
	}
	if text, _ := os.ReadFile(name); string(text) != "old" {
		t.Errorf("the file has %q", text)
	}
	if err := WriteBytes(filepath.Join(dir, "none", "a"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := WriteBytes(dir, nil); !errors.Is(err, syscall.EISDIR) {
		t.Error(err)
	}
}

// A file keeps its mode, and a link stays a link.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file, link, loose := filepath.Join(dir, "a"), filepath.Join(dir, "link"), filepath.Join(dir, "loose")
	os.WriteFile(file, []byte("old"), 0o640)
	os.Symlink("a", link)
	os.Symlink("b", loose)
	for _, name := range []string{link, loose} {
		if err := WriteBytes(name, []byte("new")); err != nil {
			t.Error(err)
		}
		if target, err := os.Readlink(name); err != nil {
			t.Errorf("%s is no link any more: %s %v", name, target, err)
		}
		if text, _ := os.ReadFile(name); string(text) != "new" {
			t.Errorf("%s has %q", name, text)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v (%v)", info, err)
	}
}

// A device or a FIFO is written to and stays. A file that may not be written stays too.
func TestNotReplaced(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(fifo)
		read <- string(text)
	}()
	if err := WriteBytes(fifo, []byte("new")); err != nil || <-read != "new" {
		t.Error(err)
	}
	if info, err := os.Lstat(fifo); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the FIFO is %v (%v)", info, err)
	}
	if err := WriteBytes("/dev/full", []byte("new")); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	shut := filepath.Join(dir, "shut")
	os.WriteFile(shut, []byte("old"), 0o400)
	if err := WriteBytes(shut, []byte("new")); os.Getuid() != 0 && !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
}

// A file without an end is not read to its end.
func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	os.WriteFile(name, make([]byte, 1<<20), 0o600)
	if text, err := Read(name, "a test", 1<<20); len(text) != 1<<20 || err != nil {
		t.Errorf("%d bytes (%v)", len(text), err)
	}
	for _, name := range []string{name, "/dev/zero"} {
		if _, err := Read(name, "a test", 1<<20-1); err == nil || !strings.HasPrefix(err.Error(), name+" has more than ") {
			t.Error(err)
		}
	}
	if _, err := Read(filepath.Join(name, "b"), "a test", 1); err == nil {
		t.Error("a file below a file was read")
	}
}
