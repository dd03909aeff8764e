// The compiler accepts functions without a body, as those of functions.go, in packages that have an assembly file.
