// Package study has observers of calls that explain them afterwards: [Explaining] records the ways of the
// calls of some code, and [Why] remembers the calls of the latest cells of a session. Their words are
// made when somebody asks. The package knows a call as observers see it, and of the world what [World]
// says.
package study
