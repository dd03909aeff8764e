// Package shortdir makes folders with short paths for tests that listen at Unix sockets: the path of
// a socket is limited to about 100 bytes, and t.TempDir's paths are too long.
package shortdir

import (
	"os"
	"testing"
)

// longest is the length of a root that leaves room for the names of folders and sockets.
const longest = 40

// Root returns the folder for temporary files, or /tmp if the path of that folder is long.
func Root() string {
	if dir := os.TempDir(); len(dir) <= longest {
		return dir
	}
	return "/tmp"
}

// New makes a folder in Root. It is removed at the end of the test.
func New(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(Root(), "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
