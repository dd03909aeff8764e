// Package calculate makes the kernels of Map and Reduce: from a formula that was checked, and the
// way in which its operands lie in memory, it makes the text that the device compiles.
//
// [Broadcast] finds the shape of a result, and [Arrange] how each operand is read for it: as one
// run of elements, as one element for all, or by strides. [Map.Text] and [Reduce.Text] write the
// kernels. A text depends on the formula, the types and the ways, and not on sizes, addresses and
// numbers, which are arguments; so equal calls find the same text compiled. The package knows no
// world, no tensor and no device; what the texts have in common is
// kernels/include/symm/calculate.cuh.
package calculate
