// Command foreign runs the test programs of the Go project and of yaegi as users of symmrepl would, by `symmrepl run FILE`, and prints a table
// that says how they compare with the Go toolchain.
//
// The lists are fixed: every file of Go's test directory whose action is "run", and every file of yaegi's _test directory with an "// Output:"
// comment. A program that does what the lists record is the same. Of any other the Go toolchain has the last word: what it prints is kept in a
// folder, so that the next run is quick. None of these programs is part of this repository: the directories are given on the command line.
//
//	go run ./interp/internal/foreign -program bin/symmrepl -go "$(go env GOROOT)/test" -yaegi DIR
package main
