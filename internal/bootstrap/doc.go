// Package bootstrap lets the ranks of a world exchange bytes and file descriptors on the host,
// before they share any memory. This package and the packages below it let processes find each
// other, in sessions and in compiled programs alike:
//
//   - launcher reads this process's place in the world from the variables of torchrun, mpirun or
//     srun;
//   - userdir manages the directory of the user's processes on this host, and sockets that only
//     they can use;
//   - rendezvous connects each process to rank 0, on one host or over TLS, and reports missing
//     ranks;
//   - heartbeat notices that the other end of a connection has vanished silently;
//   - bootstrap itself is a hub beside rank 0 that gathers bytes from a group of ranks, and a
//     client in every rank;
//   - frame defines the unit of all messages over these connections.
//
// # Hub and clients
//
// A rank calls Gather with the description of the collective call it is making. The hub holds the
// contributions of one call (same key, same ordinal) until every member has come, compares the
// descriptions, and answers all of them at once: with the bytes of all members, or, if the
// descriptions differ, with an error that lists each rank's call. If a member cannot come any more
// (its program ended, its process died, it does not take part in the current work), the call fails
// for the others at once with an error that names it, so they do not wait. If a rank is gone for
// good, the hub informs all others, whatever they do; it learns of such ranks from the code that
// started them or from a silent connection. File descriptors travel from rank to rank over Unix
// sockets in a private directory; the hub never sees them.
//
// The hub runs in the process that started the ranks. It knows nothing about devices or user code.
//
// # Hosts
//
// Descriptors do not cross hosts. Hosts finds out which ranks share a host: ranks that see each
// other's directories. Parts simulate hosts: ranks of different parts look for descriptors under
// different names, in different directories.
package bootstrap
