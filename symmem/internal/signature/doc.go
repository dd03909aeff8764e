// Package signature reads the signatures of __global__ functions from CUDA C++ text.
//
// A launch is checked against the signature before anything reaches the device, and a refused argument is answered
// with the parameter's own name and type. Neither compiler gives both: NVRTC reports sizes and offsets only, and the
// host compiler knows types but not names. So the text is read here, once, for every device.
//
// [Parse] has just enough grammar: it reads the tokens of package cudalex, steps over literals and bodies,
// keeps track of extern "C" blocks and namespaces, and splits parameter lists. It does not expand macros and does not resolve
// typedefs; what it cannot name is [Unknown], and callers then rely on sizes alone. Text that does not
// compile is the compiler's to refuse: Parse only fails where it cannot go on.
package signature
