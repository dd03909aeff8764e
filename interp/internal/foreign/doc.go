// Command foreign runs the test programs of the Go project and of yaegi as users of symmrepl would,
// by `symmrepl run FILE`, and prints a table that says how they compare with the Go toolchain.
//
// The lists are fixed: every file of Go's test directory whose action is "run", and every file of
// yaegi's _test directory with an "// Output:" comment. A program whose output is that recorded in
// the list counts as the same. The output of every other program is compared with that of the Go
// toolchain, which is kept in a folder to make the next run fast. None of these programs is part of
// this repository: the directories are given on the command line.
//
//	go run ./interp/internal/foreign -program bin/symmrepl -go "$(go env GOROOT)/test" -yaegi DIR
package main
