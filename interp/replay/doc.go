// Package replay finds the needs of a piece of code in its session, so that the code can run in
// another session too: the cells that declare names of the code, and the variables whose values the
// code may see. It also writes the cells that move these values from one session to the other.
//
// The cells of the history are checked in order, as in the session, and every name in them is
// resolved. A cell is needed if it declares a name, or assigns a variable, that the code or a
// needed cell uses. Values are sent besides, because a replay does not repeat the stores of other
// cells, kernels and other ranks: the values of the tensors and of the plain data (numbers,
// strings, booleans, and slices, arrays and maps of them) that the code can reach from its
// variables, through its functions, slices, structures and handles.
//
// Code that would make two sessions differ for another reason than their devices is refused, by
// name: code that reads the clock, files, the environment or unseeded random numbers, and variables
// whose values cannot be sent.
package replay
