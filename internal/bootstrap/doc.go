// Package bootstrap lets the ranks of a world exchange bytes and file descriptors on the host, before they share any memory. It and the
// packages below it are how processes find each other, in sessions and in compiled programs alike:
//
//   - launcher reads who this process is from the variables of torchrun, mpirun or srun;
//   - userdir is the directory of the user's processes on this host, and sockets that only they can use;
//   - rendezvous connects each process with rank 0, on one host or over TLS, and says who did not come;
//   - heartbeat notices that the other end of a connection has vanished without a word;
//   - bootstrap itself is a hub beside rank 0 that gathers bytes from a group of ranks, and a client in every rank;
//   - frame is the unit of all that is said over these connections.
//
// # Hub and clients
//
// A rank calls Gather with the description of the collective call it is making. The hub holds the
// contributions of one call (same key, same ordinal) until every member has come, compares the descriptions,
// and answers all of them at once: with everybody's bytes, or, if the descriptions differ, with an error that
// names who called what. A member that cannot come any more (its program ended, its process died, it is not
// part of the work in hand) makes the call fail for the others at once, by name, instead of leaving them to
// wait. A rank that is gone for good, as the hub learns from whoever started the ranks or from a silent connection, is told to all others,
// whatever they do. File descriptors travel from rank to rank over Unix sockets in a private directory; the hub never
// sees them.
//
// The hub runs beside whoever started the ranks. It knows nothing of devices or of user code.
//
// # Hosts
//
// Descriptors do not cross hosts. Hosts finds out which ranks share one: those that see each other's directories. Parts simulate hosts: ranks of
// different parts look for descriptors under different names, in different directories.
package bootstrap
