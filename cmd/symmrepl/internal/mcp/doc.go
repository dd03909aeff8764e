// Package mcp lets programs and agents use a session by the Model Context Protocol: it is a front
// end whose user is the client at the other end of a connection. The official SDK carries the
// protocol; this package has the tools and the resources.
//
// # Tools
//
// run runs a cell, sanitize does so in several orders of threads and ranks, trace with a summary of
// its operations. diff and state look at variables, tensors and the activity of ranks, hang at the
// waits between ranks, also while a cell runs. interrupt ends the client's own cell. bench measures
// operations, and documentation searches the documentation. Answers are JSON with the types of this
// package: output by rank, errors and findings with positions. What a cell does wrong is no error
// of the protocol: the answer says it.
//
// # Resources
//
// Each lesson is a resource, and each header of kernels: symmrepl://lessons/03-signals and
// symmrepl://kernels/symm/wait.cuh.
//
// # What a client may do
//
// A client runs code as the user, as at a prompt: only processes of this user can connect to a
// socket. With [Server.ReadOnly] it can look, and run nothing. Its cells carry its name: the
// session shows them to its users, and `:stop` at their prompts interrupts them. Answers are
// bounded; the answer counts the omitted parts.
package mcp
