// Package userdir is the directory of one user's processes on one host, and the sockets in it.
//
// The directory holds one directory for each process that has called New, locked for as long as that process lives, and the sockets at
// which the ranks of one job meet. Only the user can enter it, and sockets accept only the user's processes. What a killed process has left
// is removed by the next that calls New, and by RemoveAbandoned.
package userdir
