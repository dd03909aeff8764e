// Package builtin holds the operations of kernels/, compiled for the cpu device into the program.
//
// There is one C++ file, which includes every .cu. The Go tool does not look into included files, but it rebuilds this package when one it imports
// has changed: package kernels embeds the sources and package emu the headers, so that an edit of either reaches the program.
package builtin
