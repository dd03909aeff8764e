package check

import (
	"go/types"
	"path/filepath"
)

// program loads a program of several files as a separate package main, and lets the cell call its
// function main.
func (k *Attempt) program(known names) {
	files := k.Cell.cell.Program
	c, err := k.Checker.pkgs.read(types.NewPackage(PackageName, PackageName), files, filepath.Dir(files[0]))
	if err != nil {
		k.source = err
		return
	}
	known.define(mainName, c.Objects[mainName])
}

// mainName is the function with which a program begins.
const mainName = "main"
