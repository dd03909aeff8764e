// The compiler accepts functions without a body, as those of guard.go, in packages that have an assembly file.
