// Package client drives a running symmrepl session from another Go program: it evaluates cells on
// the session's ranks and returns their output and values, folded by rank.
//
//	s, err := client.Attach("")           // the newest session of this user on this host
//	r, err := s.Eval("symm.Rank() * 2")
//	fmt.Print(r)                          // [0] 0
//	                                      // [1] 2
//
// The package is a separate module that needs only the standard library of Go 1.21, so that older
// tools can build it. The session and the client must have the same version of symmrepl; otherwise
// Attach returns an error.
//
// A notebook of the Go kernel gophernotes 0.7.5 can import the package, too, and shows a *Result as
// the value of a cell. gophernotes must be built with Go 1.22 and golang.org/x/tools 0.24.0
// (.ci/gophernotes does this), and needs that Go in PATH and this module.
package client
