package command

import (
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

// Programs makes Go programs from the cells of a session of size ranks: one file, or a folder with
// everything that the program needs.
type Programs struct {
	File   func(cells []session.Cell, size int) ([]byte, error)
	Folder func(cells []session.Cell, size int) (files map[string][]byte, err error) // by path in the folder
}

// All returns the commands of one console in the order of help. They share the open tutorial.
// export writes the programs of `:export`.
func All(export Programs) []console.Command {
	t := &tour.Tour{}
	return []console.Command{
		on(),
		timeCell(),
		trace(),
		sanitize(),
		history(),
		edit(),
		save(),
		load(),
		exportTo(export),
		vars(),
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
