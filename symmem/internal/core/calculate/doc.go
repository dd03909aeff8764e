// Package calculate makes the kernels of Map and Reduce, and plans their launches.
//
// A [Cache] parses a formula and checks it with its operands, which are given by type, shape and
// address. The [Calculation] refuses operands and results that do not fit together, and plans one of
// its forms: [Calculation.Map], [Calculation.Reduce], [Calculation.Transposed] or [Calculation.Placed].
// The [Plan] has the shape of the result, the kernels, and their launches. [Operations] has the
// formulas of the operations with names.
//
// [Broadcast] returns the shape of a result, and [Arrange] the way to read each operand: as one run of
// elements, as one element for all, or by strides. [Map.Text] and [Reduce.Text] write the kernels. A
// text depends on the formula, the types and the ways to read operands. Sizes, addresses and numbers
// are arguments, so equal calls find the same text compiled. The package knows no world and no tensor,
// and compiles and launches nothing. kernels/include/symm/calculate.cuh is the common part of the texts.
package calculate
