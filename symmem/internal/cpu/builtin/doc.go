// Package builtin has the operations of package kernels, compiled into the program for the cpu
// device.
//
// The C++ files operations_1.cpp and so on include every .cu, each in its own namespace, because the
// kernels are extern "C" and their helpers are not. The Go tool does not track included files, but it
// rebuilds this package when an imported package changes. Package kernels embeds the sources and
// package emu the headers, so a change of either has an effect. After adding a file of kernels, run
// go generate; a test checks that.
package builtin

//go:generate go run ./gen .
