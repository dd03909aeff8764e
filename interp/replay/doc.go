// Package replay finds what a piece of code needs from its session, so that the code can run in
// another session too: the cells that declare what it uses, and the variables whose values it may
// see. It also writes the cells that move these values from one session to the other.
//
// The cells of the history are checked in order, as in the session, and every name in them is
// resolved. A cell is needed if it declares a name that the code uses, or assigns a variable that it
// uses; and if a needed cell uses the name. Values are sent beside that, because a replay does not
// repeat what other cells, kernels and other ranks have stored: those of the tensors and of the
// plain data (numbers, strings, booleans, and slices, arrays and maps of them) that the code can
// reach from its variables, through its functions, slices, structures and handles.
//
// What would make two sessions differ for another reason than their devices is refused, by name: code
// that reads the clock, files, the environment or unseeded random numbers, and variables whose
// values cannot be sent.
package replay
