package command

// Groups of commands: the headings of help.
const (
	cells   = "cells"
	looking = "looking around"
	devices = "ranks and devices"
	program = "this program"
)
