// Package wholefile reads and writes the files that users name: whole or not at all.
//
// A file keeps its name, its mode and its contents until the new contents are complete. A symbolic
// link stays, and the file that it points to is replaced. What is no regular file, such as
// /dev/stdout or a FIFO, is written to and never replaced.
package wholefile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// File is a file that is being written. Commit or Abort ends it.
type File struct {
	*os.File
	name string // as the caller gave it
	path string // the file to replace, or "" if the bytes go to the file itself
}

// Create begins to write the file of a name. It fails if the user may not write it.
func Create(name string) (*File, error) {
	path, mode, err := resolve(name)
	if err != nil {
		return nil, err
	}
	if mode.Type() != 0 {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &File{File: f, name: name}, err
	}
	f, err := os.OpenFile(besides(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err != nil {
		if f != nil {
			f.Close()
			os.Remove(f.Name())
		}
		return nil, named(name, err)
	}
	return &File{f, name, path}, nil
}

// Commit gives the file its name.
func (f *File) Commit() error {
	err := f.Close()
	if f.path == "" {
		return err
	}
	if err == nil {
		err = os.Rename(f.File.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.File.Name())
		return named(f.name, err)
	}
	return nil
}

// Abort gives the file up.
func (f *File) Abort() {
	f.Close()
	if f.path != "" {
		os.Remove(f.File.Name())
	}
}

// Write makes write write the file of a name. Its errors name that file.
func Write(name string, write func(io.Writer) error) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Abort()
		return named(name, err)
	}
	return f.Commit()
}

// WriteBytes writes the file of a name.
func WriteBytes(name string, text []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// MkdirBeside makes a folder beside the one at path, in which that can be prepared.
func MkdirBeside(path string) (string, error) {
	dir := besides(filepath.Clean(path))
	return dir, os.Mkdir(dir, 0o777)
}

// resolve returns the file that a name refers to, and its mode, 0 if there is none.
func resolve(name string) (path string, mode fs.FileMode, err error) {
	path, err = filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) { // a new file, or the missing target of a link
		target, err := os.Readlink(name)
		switch {
		case err != nil:
			target = name
		case !filepath.IsAbs(target):
			target = filepath.Join(filepath.Dir(name), target)
		}
		return target, 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", 0, named(name, err)
	case info.IsDir():
		return "", 0, &fs.PathError{Op: "write", Path: name, Err: syscall.EISDIR}
	case info.Mode().IsRegular():
		err = unix.Access(path, unix.W_OK) // a file that may not be written must not be replaced either
	}
	if err != nil {
		return "", 0, &fs.PathError{Op: "write", Path: name, Err: err}
	}
	return path, info.Mode(), nil
}

// besides returns a name beside path that nothing has.
func besides(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%.100s.%s.part", filepath.Base(path), rand.Text()[:10]))
}

// named returns an error that names the file of the caller, not the one that is written.
func named(name string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return &fs.PathError{Op: path.Op, Path: name, Err: path.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: "replace", Path: name, Err: link.Err}
	}
	return err
}
