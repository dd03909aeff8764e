// Package client drives a running symmrepl session from another Go program: it evaluates cells on the
// session's ranks and returns what they printed, folded by rank.
//
//	s, err := client.Attach("")           // the newest session of this user on this host
//	r, err := s.Eval("symm.Rank() * 2")
//	fmt.Print(r)                          // [0] 0
//	                                      // [1] 2
//
// It is a module of its own that needs nothing but the standard library of Go 1.21, so that older tools can build it. The session and
// the client must be of the same version of symmrepl; Attach says so if they are not.
//
// A notebook of the Go kernel gophernotes 0.7.5 may import it, too, and shows a *Result as the value of a cell. gophernotes has to be built with
// Go 1.22 and golang.org/x/tools 0.24.0, find that Go in PATH and get this module; .ci/gophernotes builds it so.
package client
