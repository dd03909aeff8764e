// Package kernelcache keeps compiled kernels on disk, in a folder that all processes of a user
// share.
//
// An entry is a file or a folder. Its name is a [Key] of everything that determines its content:
// the source, the headers, the options, the architecture, and the compiler. An entry is either
// complete or missing: it is built in a temporary folder, written to disk and renamed. If several
// processes need the same entry at once, one builds it and the others wait.
//
// All of the user's processes execute the contents of the cache. So the folder, and every entry
// when it is found, must belong to the user and not be writable for others, and no one else may be
// able to replace the folder; otherwise the folder is not used, or the entry is built again. An
// entry is also built again if its content does not match its digest: a truncated or emptied file,
// or a folder with a missing file.
//
// If there are many files, the least recently used ones are removed.
package kernelcache
