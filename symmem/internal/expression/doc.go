// Package expression reads the formulas of Map and Reduce, such as "x0*x1 + rank": it parses them,
// gives every part a type, and prints them as CUDA C++.
//
// Text from a program never reaches a compiler. [Parse] makes a [Tree] of nodes, each of which is a
// row of a fixed table or a number that was parsed; [Tree.Check] finds the type of every node for
// operands of given types; and [Checked.CUDA] writes new text from the nodes, by names of this
// package and of kernels/include/symm/calculate.cuh alone. A text that cannot be parsed or typed is an
// [Error] with the position.
//
// # Grammar
//
// Operators have the precedence of Go; ?: binds least.
//
//	expression = or [ "?" expression ":" expression ]
//	or         = and { "||" and }
//	and        = relation { "&&" relation }
//	relation   = sum { ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum }
//	sum        = product { ( "+" | "-" | "|" | "^" ) product }
//	product    = unary { ( "*" | "/" | "%" | "<<" | ">>" | "&" ) unary }
//	unary      = ( "-" | "+" | "!" | "~" ) unary | primary
//	primary    = number | name | function "(" expression { "," expression } ")" | "(" expression ")"
//
// The names are the operands x0 to x15, rank, size, i (the number of the element), n (how many there
// are), pi, inf, nan, true and false. A formula of Reduce has one reduction, as in
// "sqrt(sum(x0*x0))": min and max of one argument are reductions; with two arguments they compare
// elements.
//
// # Types
//
// Operands combine as numpy's arrays do ([Promote]). Numbers, numbers that are operands, and rank,
// size, i and n take the type of the other operand, as Python's numbers do. 8- and 16-bit floats are
// calculated in float and rounded once at the end. Integers wrap around; / rounds towards zero, and
// a division by zero is 0. The result of a comparison is a truth: 0 or 1 in arithmetic, and u8 as the
// result of a formula.
package expression
