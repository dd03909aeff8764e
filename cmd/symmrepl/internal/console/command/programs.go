package command

import (
	"fmt"
	"path/filepath"

	"github.com/symmrepl/symmrepl/session"
)

// Programs makes programs from the cells of a session of size ranks.
type Programs struct {
	File func(cells []session.Cell, size int) ([]byte, error) // of Go, one file
	// of Go, with all that it needs, by path in the folder
	Folder func(cells []session.Cell, size int) (files map[string][]byte, err error)
	// a module for PyTorch, by path in its folder
	Python func(name string, cells []session.Cell, size int) (files map[string][]byte, err error)
	Cpp    func(cells []session.Cell, size int) (files map[string][]byte, err error) // of C++, by path in the folder
}

// Make makes the program that the name of a file or folder asks for, in C++ if cpp is set.
func (p Programs) Make(name string, cpp bool, cells []session.Cell, size int) (made Output, err error) {
	switch ext := filepath.Ext(name); {
	case cpp && (ext == ".go" || ext == ".py"):
		err = fmt.Errorf("--cpp writes a folder, and %s is the name of a file", name)
	case cpp:
		made.folder, err = p.Cpp(cells, size)
	case ext == ".go":
		made.file, err = p.File(cells, size)
	case ext == ".py":
		made.beside, err = p.Python(filepath.Base(name), cells, size)
	default:
		made.folder, err = p.Folder(cells, size)
	}
	return made, err
}
