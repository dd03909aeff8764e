// Package kernelcache keeps compiled kernels on disk, in a folder that all processes of a user share.
//
// An entry is a file or a folder. Its name is a [Key] of everything that decides its content: the source, the headers, the
// options, the architecture, and the compiler. An entry is there whole or not at all: it is built in a folder of its own, written
// to the disk and renamed. Of several processes that want the same entry at once, one builds it and the others wait.
//
// What is in the cache is run by all of the user's processes. The folder, and every entry when it is found, must belong to the user and be
// closed to others' writing, and nobody else may be able to put another folder in its place; else the folder is not used, and the entry is
// built again. An entry is also built again when its content is not what was built, by the digest that is kept of it: a file that was cut
// or emptied, a folder of which a file is missing.
//
// The least recently used files are removed when there are many.
package kernelcache
