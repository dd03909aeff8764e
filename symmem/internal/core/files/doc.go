// Package files reads and writes the tensors of files for the ranks of a group: a member's part of a
// tensor ([Call.Open]), and files of which each member writes a part ([Call.Save]). Package tensorfile
// implements the formats, and this package the agreement of the ranks. It knows a tensor by its type
// and shape, and by a function that gives its bytes.
package files
