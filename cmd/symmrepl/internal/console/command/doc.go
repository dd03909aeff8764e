// Package command holds the commands of the prompt, one file each: the row that the console reads, the function that it
// runs, and what only this command needs. [All] lists them.
//
// To add a command, write its file with a function that returns its row, and add a line to All; `go generate` then
// renews docs/commands.md. Nothing else knows a command by name.
package command

//go:generate go run ./docgen ../../../../../docs/commands.md
