package kernelcache

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxEntries is the maximum number of files in a cache; each has some tens of KiB.
const maxEntries = 2048

// abandoned is the age from which a folder for building an entry is assumed to belong to a process
// that died.
const abandoned = 24 * time.Hour

// prune removes the least recently used files if the folder has more than limit, down to three
// quarters of limit.
func (c *Cache) prune(limit int) {
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) <= limit {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // removed by another process
		}
		switch {
		case info.Mode().IsRegular():
			files = append(files, info)
		case strings.HasPrefix(e.Name(), building) && time.Since(info.ModTime()) > abandoned:
			os.RemoveAll(c.Path(e.Name()))
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, f := range files[:max(0, len(files)-limit*3/4)] {
		os.Remove(c.Path(f.Name()))
		os.Remove(filepath.Join(c.dir, sums, f.Name()))
	}
}
