package libs

import (
	"bytes"
	"encoding/binary"
	"os"
)

// readCache returns the loader's cache as a map from soname to path; empty if it cannot be read.
func readCache(path string) map[string]string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return parseCache(data)
}

// The layout of glibc's cache: a header of 48 bytes with the number of entries after the magic,
// then entries of 24 bytes whose second and third words after the flags are offsets of
// NUL-terminated strings. An old-format cache may stand before it.
const (
	cacheMagic  = "glibc-ld.so.cache1.1"
	cacheHeader = 48
	cacheEntry  = 24
)

// parseCache reads the 64-bit libraries of a cache; if several have the same name, the first
// counts, as for the loader.
func parseCache(data []byte) map[string]string {
	start := bytes.Index(data, []byte(cacheMagic))
	if start < 0 {
		return nil
	}
	data = data[start:]
	if len(data) < cacheHeader {
		return nil
	}
	n := int(binary.NativeEndian.Uint32(data[len(cacheMagic):]))
	n = min(n, (len(data)-cacheHeader)/cacheEntry)
	libs := make(map[string]string, n)
	for i := range n {
		e := data[cacheHeader+i*cacheEntry:]
		flags := binary.NativeEndian.Uint32(e)
		if flags&0xff00 == 0 {
			continue // a 32-bit library
		}
		name, path := cacheString(data, e[4:]), cacheString(data, e[8:])
		if _, known := libs[name]; !known && name != "" && path != "" {
			libs[name] = path
		}
	}
	return libs
}

func cacheString(data, at []byte) string {
	offset := int(binary.NativeEndian.Uint32(at))
	if offset >= len(data) {
		return ""
	}
	end := bytes.IndexByte(data[offset:], 0)
	if end < 0 {
		return ""
	}
	return string(data[offset : offset+end])
}
