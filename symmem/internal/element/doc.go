// Package element knows the types of a tensor's elements: their sizes and names, and how numbers of Go become their
// bits and back. It is pure: devices compute with the same types by kernels/include.
package element
