// Package cli is the command line of symmrepl: its subcommands, flags, usage text and exit statuses.
//
// Main reads the arguments, opens a session (launch.go) and hands it to what the subcommand is: a prompt, a
// script, a benchmark. It is a contract for scripts: see usage.go for what each flag and exit status means.
package cli
