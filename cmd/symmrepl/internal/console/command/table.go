package command

import (
	"fmt"
	"path/filepath"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command/tour"
	"github.com/symmrepl/symmrepl/session"
)

// Groups of commands: the headings of help.
const (
	cells   = "cells"
	looking = "looking around"
	devices = "ranks and devices"
	program = "this program"
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

// All returns the commands of one console in the order of help. They share the open tutorial.
// export writes the programs of `:export`.
func All(export Programs) []console.Command {
	t := &tour.Tour{}
	return []console.Command{
		on(),
		timeCell(),
		compare(),
		why(),
		trace(),
		sanitize(),
		stop(),
		breakAt(),
		step(),
		continueOn(),
		slow(),
		history(),
		edit(),
		save(),
		load(),
		exportTo(export),
		vars(),
		diff(),
		typeOf(),
		documentation(),
		ranks(),
		caps(),
		topo(),
		network(),
		top(),
		restart(t),
		t.Tutorial(),
		t.Next(),
		t.Prev(),
		t.Again(),
		t.Check(),
		t.Hint(),
		t.Where(),
		cd(),
		go111module(),
		help(),
		quit(),
	}
}
