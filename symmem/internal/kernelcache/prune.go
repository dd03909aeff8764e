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

// maxEntries bounds the files of a cache, which have some tens of KiB each.
const maxEntries = 2048

// abandoned is the age at which a folder in which an entry was being built belongs to a process that died.
const abandoned = 24 * time.Hour

// prune removes the least recently used files, down to three quarters of limit, when the folder holds more than limit.
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
