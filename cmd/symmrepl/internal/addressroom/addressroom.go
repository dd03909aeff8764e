// Package addressroom ends a process with one line of explanation if `ulimit -v` leaves it too few
// addresses. Go's run-time reserves addresses before any Go code runs, and without them ends with
// pages of its own stacks. This check is therefore a constructor in C, which runs earlier.
// Importing the package adds it to a program.
package addressroom

import "C"
