// Package inherit declares what a worker gets from its supervisor when it starts: its settings in
// environment variables, descriptors by their numbers, and memory that both share until the worker ends.
// The two processes have nothing else in common but the messages of package wire.
package inherit
