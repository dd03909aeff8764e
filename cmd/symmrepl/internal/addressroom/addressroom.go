// Package addressroom ends a process that `ulimit -v` leaves too few addresses, with one line that says so. Go's run-time reserves addresses before any Go code runs, and
// ends with pages of its own stacks where it gets none; so this is a constructor in C, which runs before that. A program has it by importing the package.
package addressroom

import "C"
