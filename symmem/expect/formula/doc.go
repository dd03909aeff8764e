// Package formula reads formulas for the elements of tensors, such as "rank_sum(x) * 2", and
// calculates them on the host. They say what a kernel should have written, apart from the kernel and
// from the device: see package expect.
//
// [Parse] reads a formula and checks it against the names and types of tensors, without their
// values: what it accepts can only fail for values. [Formula.Eval] calculates every element of a
// result of n elements as one rank would, with the values of all ranks' tensors that a [Values]
// returns. Neither calls anything of the user's, and both end: the length of a text, its depth, and
// the steps of a calculation are limited. Formulas for the device are another thing: symmem.Map.
//
// # Formulas
//
// A formula is an expression of Go. Operators have the precedence and the meaning of Go: / and % of
// integers round towards zero.
//
//	1  0xff  2.5  1e-3           numbers
//	pi  inf  nan  true  false    constants
//	i                            the index of the element, counted through all dimensions
//	n                            the number of elements of the result
//	rank  size                   the rank, and the number of ranks
//	x                            element i of tensor x on this rank
//	x[k]                         element k of tensor x on this rank
//	on(p, e)                     e as rank p sees it: rank is p, and x is its x
//	rank_sum(e)  rank_prod(e)    the sum and the product of e as each rank sees it, from rank 0 on
//	rank_min(e)  rank_max(e)     the least and the greatest
//	sum(k, a, b, e)              the sum of e for all integers k from a up to b-1, 0 if there is none
//	prod(k, a, b, e)             the product, 1 if there is none
//	where(c, a, b)               a where c is true, b elsewhere; the other one is not calculated
//	+  -  *  /  %                arithmetic; % is for integers
//	&  |  ^  &^  <<  >>          the bits of integers; ^e inverts them
//	==  !=  <  <=  >  >=         comparisons
//	&&  ||  !                    of conditions; the second one is calculated if it matters
//	abs(e)  min(a, b…)  max(a, b…)
//	sqrt  exp  exp2  log  log2  sin  cos  tanh  erf  floor  ceil  trunc  rint, pow(a, b)
//	isnan(e)
//	hash(e)                      an integer of 32 bits that looks random: see below
//	f64(e)  f32(e)  f16(e)  bf16(e)  f8e4m3(e)  f8e5m2(e)
//	i64(e)  i32(e)  i16(e)  i8(e)  u64(e)  u32(e)  u16(e)  u8(e)  bool(e)
//
// The variable of a sum is a name that means nothing else. Names are read where they stand, so
// on(p, x[k]) may have a k from outside.
//
// # Arithmetic
//
// A part of a formula is an integer of 64 bits, a float64, or a condition. Integers are calculated
// exactly and wrap around at 64 bits. They are signed, except elements of u64, u64(e) and numbers
// beyond the largest int64; an operation on both kinds is unsigned, and a comparison is by value. An
// operation on an integer and a float is one on floats. A condition is 0 or 1 in arithmetic, but
// where an operator or where needs a condition, a number is refused. A float is divided by zero as
// by a kernel; an integer divided by zero is an error. min, max, rank_min and rank_max are NaN if one
// of the numbers is.
//
// Conversions round as kernels do: a float to the nearest value, ties to even, and beyond the
// largest value to infinity, or to NaN in f8e4m3; to an integer type towards zero, to the nearest
// integer of the type, and NaN to 0. Integers wrap around in a smaller type. What follows is
// calculated in 64 bits again: f32(a + b) + c is rounded once, as f32(f32(a + b) + c) is not.
//
// The result becomes elements of a type (see [Formula.Eval]): rounded in a floating type, and
// refused where only a conversion that the formula does not have could make it fit.
//
// # hash
//
// hash(e) takes the low and the high 32 bits of an integer, l and h, and is in arithmetic modulo 2^32
//
//	x = l ^ h*0x9e3779b9
//	x = (x ^ x>>16) * 0x7feb352d
//	x = (x ^ x>>15) * 0x846ca68b
//	x ^ x>>16
//
// It is the same on every rank and in every version: hash(0) is 0, hash(1) is 1753845952. A fill
// with other values on each rank is, for example, f32(hash(i + n*rank) % 1000) / 8.
package formula
