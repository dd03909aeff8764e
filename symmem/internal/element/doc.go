// Package element implements the types of a tensor's elements: their sizes and names, and
// conversions between Go numbers and their bits. Devices compute with the same types through
// kernels/include.
package element
