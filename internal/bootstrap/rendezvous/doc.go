// Package rendezvous connects the processes of one world with rank 0, each of which knows only what its launcher has told it.
//
// A Place follows from the launcher's variables and is the same in all processes: a Unix socket if all ranks are on one host, and otherwise
// an address of rank 0, over TLS with a token that all ranks share. Rank 0 calls Meeting.Serve there, the others call Meeting.Join, in any
// order: Join tries until rank 0 listens. A connection begins with the Hello of the rank that joins; rank 0 compares it with its own world
// and answers that the rank is welcome, or why it is not. What the Link carries after that is up to the caller. Server.Wait says which ranks
// did not come.
//
// Sessions and compiled programs both meet this way. In a session the links carry commands to supervisors, and further links connect their
// workers with the hub; in a program they connect the ranks with the hub.
package rendezvous
