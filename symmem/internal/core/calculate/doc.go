// Package calculate makes the kernels of Map and Reduce: from a checked formula and the layout of its
// operands in memory it makes the text that the device compiles.
//
// [Broadcast] returns the shape of a result, and [Arrange] the way to read each operand: as one run of
// elements, as one element for all, or by strides. [Map.Text] and [Reduce.Text] write the kernels. A
// text depends on the formula, the types and the ways to read operands. Sizes, addresses and numbers
// are arguments, so equal calls find the same text compiled. The package depends on no world, tensor or
// device. kernels/include/symm/calculate.cuh is the common part of the texts.
package calculate
