package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// pack returns the zip file, with the record of its files in the folder info.
func (list files) pack(info string) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	record := ""
	write := func(name string, f file) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(0o644)
		if f.executable {
			header.SetMode(0o755)
		}
		w, err := z.CreateHeader(header)
		if err == nil {
			_, err = w.Write(f.text)
		}
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		f := list[name]
		sum := sha256.Sum256(f.text)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
		if err := write(name, f); err != nil {
			return nil, err
		}
	}
	record += info + "/RECORD,,\n"
	if err := write(info+"/RECORD", file{text: []byte(record)}); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}
