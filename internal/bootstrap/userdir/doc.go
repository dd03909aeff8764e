// Package userdir manages the directory of one user's processes on one host, and the sockets in it.
//
// The directory holds one directory for each process that has called New, locked for as long as
// that process lives, and the sockets at which the ranks of one job meet. Only the user can enter
// it, and sockets accept only the user's processes. The next process that calls New, and
// RemoveAbandoned, remove the entries of killed processes. NewShared makes such directories in
// shared memory, for files that processes map.
package userdir
