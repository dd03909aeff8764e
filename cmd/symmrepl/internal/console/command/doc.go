// Package command holds the commands of the prompt. A file has one command: its row for the
// console, the function that the row runs, and helpers of this command only. [All] lists the rows.
//
// To add a command, write its file with a function that returns its row, and add a line to All; `go
// generate` then renews docs/commands.md. Nothing else knows a command by name.
package command

//go:generate go run ./docgen ../../../../../docs/commands.md
