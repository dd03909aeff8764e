// Package hosts is the process of a rank other than 0, which a launcher has started: it supervises its
// rank, and on each host but rank 0's, the first of them leads.
//
// The leader has the only link of its host to rank 0's process, which has the controller; the other
// processes of the host join through it (follow.go). A command for several ranks crosses the link once,
// and so does an event that several ranks report alike: the leader holds an event back for a moment for
// equal ones. The controller acknowledges output, so that a rank that prints too much waits and the others
// do not (leader.go). If there is no leader on its host, a process joins rank 0 by itself.
//
// Workers meet their peers at the hub, in rank 0's process: the process of their rank connects them to
// it, past the leader (relayBootstrap). The process ends when the controller says so, or when its link
// ends: then the session has given up its rank, and its worker ends too.
package hosts
