// Package signature reads the signatures of __global__ functions from CUDA C++ text.
//
// A launch is checked against the signature before anything reaches the device, and the error for a
// wrong argument names the parameter and its type. Neither compiler provides both: NVRTC reports
// only sizes and offsets, and the host compiler knows types but not names. So this package parses
// the text, once for all devices.
//
// [Parse] has just enough grammar: it reads the tokens of package cudalex, steps over literals and
// bodies, keeps track of extern "C" blocks and namespaces, and splits parameter lists. It does not
// expand macros or resolve typedefs; other types are [Unknown], for which callers only check sizes.
// The compiler reports errors in the text: Parse only fails if it cannot continue.
package signature
