// Package cli is the command line of symmrepl: its subcommands, flags, usage text and exit statuses.
//
// Main parses the arguments and runs a subcommand, a row of a table (subcommand.go) with a file of
// its own. Most subcommands open a session (launch.go) for a front end: a prompt or a pipe
// (front.go), a script, a notebook's kernel, a benchmark. Scripts rely on the command line:
// table.go describes each flag and exit status, and --help, the manual page and the completions of
// shells are made of it.
package cli
