// Package console turns what a user enters into calls of a session, and prints what comes back.
//
// An entry is one of four things: a cell of Go; a command, which begins with ':' or '%'; a cell for some
// ranks only, which begins with a line `%%rank [0,2]`; or a shell line, which begins with '$'. The commands
// are one table (commands.go), from which `:help`, completion and docs/commands.md are made.
//
// The package knows nothing of terminals: the prompt, scripts and -e all hold a Console and differ only in
// where entries come from.
package console

//go:generate go run ./docgen ../../../../docs/commands.md
