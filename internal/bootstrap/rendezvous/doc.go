// Package rendezvous connects the processes of one world to rank 0. Each process knows only the
// variables of its launcher.
//
// A Place follows from the launcher's variables and is the same in all processes: a Unix socket if
// all ranks are on one host, and otherwise an address of rank 0, over TLS with a token that all
// ranks share. Rank 0 calls Meeting.Serve there, the others call Meeting.Join, in any order: Join
// tries until rank 0 listens. A connection begins with the Hello of the rank that joins; rank 0
// compares it with its own world and answers that the rank is welcome, or why it is not. After that
// the Link carries the caller's messages. Server.Wait returns the missing ranks.
//
// Sessions and compiled programs both meet this way. In a session the links carry commands to
// supervisors, and further links connect their workers to the hub; in a program they connect the
// ranks to the hub.
package rendezvous
