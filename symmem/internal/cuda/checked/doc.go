// Package checked rewrites the text of kernels so that their pointers know their extents: `float* x` among the parameters of a kernel becomes
// `symm::Checked<float> x`, of symm/bounds.cuh. Nothing else changes: names, lines, and all that is not a parameter stay as they are.
//
// The text is read as package signature reads it, without types and macros, so that what is rewritten need not compile: a kernel may
// give its pointer to a template, or print it. It is then compiled as it was written, and not checked.
package checked
