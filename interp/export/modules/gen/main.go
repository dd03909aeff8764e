// Command gen writes the archive of package modules to the file it is given.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gen FILE")
	}
	text, err := archive()
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// architectures lists the architectures that the sources support.
var architectures = []string{"amd64", "arm64"}

// archive makes the archive.
func archive() ([]byte, error) {
	files := map[string]string{} // on this machine, by name in the archive
	for _, architecture := range architectures {
		if err := find(architecture, files); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	compressed, _ := gzip.NewWriterLevel(&text, gzip.BestCompression)
	out := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var content []byte
		if !strings.HasSuffix(name, ".ttf") {
			var err error
			if content, err = os.ReadFile(files[name]); err != nil {
				return nil, err
			}
		}
		if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := out.Write(content); err != nil {
			return nil, err
		}
	}
	err := errors.Join(out.Close(), compressed.Close())
	return text.Bytes(), err
}

// find adds the files of other modules' packages that programs use.
func find(architecture string, files map[string]string) error {
	const module = "github.com/symmrepl/symmrepl/"
	// Package symbols imports the packages that cells see, to make tables of them. Programs do not
	// need the interpreter.
	roots := []string{module + "symmem", module + "show", module + "display", module + "chart"}
	list, err := packages(architecture, false, module+"interp/symbols")
	if err != nil {
		return err
	}
	for _, path := range list[0].Imports {
		if strings.HasPrefix(path, "gonum.org/") {
			roots = append(roots, path)
		}
	}
	list, err = packages(architecture, true, roots...)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.Module == nil || p.Module.Main {
			continue
		}
		within := p.Module.Path + "@" + p.Module.Version + "/"
		sub := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.CFiles, p.CXXFiles, p.HFiles, p.SFiles, p.EmbedFiles) {
			files[within+filepath.Join(sub, name)] = filepath.Join(p.Dir, name)
		}
		for _, pattern := range []string{"go.mod", "LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "PATENTS*", "AUTHORS"} {
			found, err := filepath.Glob(filepath.Join(p.Module.Dir, pattern))
			if err != nil {
				return err
			}
			for _, name := range found {
				if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
					files[within+filepath.Base(name)] = name
				}
			}
		}
	}
	return nil
}

// pkg is the go command's data about a package.
type pkg struct {
	ImportPath string
	Dir        string
	Module     *struct {
		Path, Version, Dir string
		Main               bool
	}
	Imports                                                         []string
	GoFiles, CgoFiles, CFiles, CXXFiles, HFiles, SFiles, EmbedFiles []string
}

// packages asks the go command about packages, including their dependencies if deps is set.
func packages(architecture string, deps bool, paths ...string) ([]pkg, error) {
	args := []string{"list", "-json=ImportPath,Dir,Module,Imports,GoFiles,CgoFiles,CFiles,CXXFiles,HFiles,SFiles,EmbedFiles"}
	if deps {
		args = append(args, "-deps")
	}
	cmd := exec.Command("go", append(args, paths...)...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+architecture, "CGO_ENABLED=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var list []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		list = append(list, p)
	}
}
