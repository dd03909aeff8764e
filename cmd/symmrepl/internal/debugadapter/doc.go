// Package debugadapter answers the Debug Adapter Protocol
// (https://microsoft.github.io/debug-adapter-protocol) for a session: its threads are the ranks,
// which stop and go on together, as session.Debugger says.
//
// There are two fronts. [Server] serves editors, one client on each connection: it launches a
// program in a session of its own, or attaches to a session that a person has open. The scopes of a
// frame are the locals of its rank, the session's variables, and the tensors among both. [Lab]
// answers JupyterLab for a Jupyter kernel, with the requests that JupyterLab adds to the protocol:
// the variables can be inspected while nothing is stopped, and the scopes of a frame are the ranks.
//
// Clients see variables by the session's own queries, which run no code. What a tensor holds is read
// when a client opens the tensor: by a cell that is not recorded if no cell runs, or in the frame of
// a stopped rank. While a cell runs on, it cannot be read.
//
// Clients are not trusted to keep to the protocol: the size of messages and of answers is bounded,
// and numbers of frames and variables are checked.
package debugadapter
