// Package checked rewrites the text of kernels so that their pointers know their extents: `float* x` among the parameters of a kernel becomes
// `symm::Checked<float> x`, of symm/bounds.cuh. In bodies it does so with pointers that are declared with a value and with casts, so that
// `float* row = x + 8` knows its extent too. Nothing else changes: names and lines stay as they are.
//
//	Rewrite     the parameters of kernels
//	RewriteAll  bodies as well
//
// The text is read as package signature reads it, without types and macros, so that what is rewritten need not compile: a kernel may
// give its pointer to a template, or print it. It then has to be compiled with less of it, or as it was written.
package checked
