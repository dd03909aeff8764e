// Package checked rewrites the text of kernels so that their pointers know their extents: a
// kernel's parameter `float* x` becomes `symm::Checked<float> x`, from symm/bounds.cuh. In bodies
// the package rewrites declarations of pointers with a value and casts, so that `float* row = x +
// 8` knows its extent too. Names and lines stay unchanged.
//
//	Rewrite     the parameters of kernels
//	RewriteAll  bodies as well
//
// The text is read as by package signature, without knowledge of types and macros, so the rewritten
// text may not compile: a kernel may pass its pointer to a template, or print it. It then has to be
// compiled with fewer changes, or unchanged.
package checked
