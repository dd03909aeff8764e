// Package cli is the command line of symmrepl: its subcommands, flags, usage text and exit statuses.
//
// Main parses the arguments and runs the subcommand that they name, a row of a table (subcommand.go) with a file each. Most
// open a session (launch.go) and hand it to a front end: a prompt or a pipe (front.go), a script, a notebook's kernel, a
// benchmark. Scripts rely on the command line: usage.go says what each flag and exit status means.
package cli
