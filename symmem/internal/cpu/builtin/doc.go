// Package builtin holds the operations of package kernels, compiled for the cpu device into the program.
//
// The C++ files operations_1.cpp and so on include every .cu, each in a namespace of its own, because the kernels are extern "C"
// and their helpers are not. The Go tool does not look into included files, but it rebuilds this package when one that it imports
// has changed: package kernels embeds the sources and package emu the headers, so that an edit of either reaches the program. A
// new file of kernels needs go generate; a test says so.
package builtin

//go:generate go run ./gen .
