// Package kerneltext makes the text that a compiler of kernels takes from a source file as it is: one
// text with its headers in place, and without the parts for the host.
//
// A header that stands beside the file, or in a folder of -I, comes in the place of its #include,
// once; Text.At tells the file and the line of each line. The headers that symmrepl brings
// stay as they are. Other ones, such as <vector> or <torch/extension.h>, are left out, because only
// the host uses them; Text lists them for a message about what the kernels lack.
//
// If the text launches kernels, defines main or includes a header that is left out, functions,
// variables and declarations at namespace scope that are not for the device are replaced by blanks.
// For the device is what has __global__, __device__, __constant__ or __shared__, or a macro of the
// text that contains one of them; and types, aliases and what is constexpr, unless they name what only
// the host has: std::vector, cudaStream_t, torch, a launch, or a type that was left out.
package kerneltext
