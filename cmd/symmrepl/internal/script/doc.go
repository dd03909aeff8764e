// Package script runs the entries of a pipe as if they were typed.
package script
