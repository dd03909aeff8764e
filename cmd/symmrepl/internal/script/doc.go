// Package script runs entries that come through a pipe as if they were typed.
package script
