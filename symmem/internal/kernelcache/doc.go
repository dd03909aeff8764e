// Package kernelcache keeps compiled kernels on disk, in a folder that all processes of a user share.
//
// An entry is a file or a folder. Its name is a [Key] of everything that decides its content: the source, the headers, the
// options, the architecture, and the compiler. An entry is there whole or not at all: it is built in a folder of its own, written
// to the disk and renamed. Of several processes that want the same entry at once, one builds it and the others wait.
//
// The least recently used files are removed when there are many.
package kernelcache
