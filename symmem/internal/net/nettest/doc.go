// Package nettest holds every provider of package net to the same behaviour, between real processes.
//
// A test binary calls [Main] from TestMain and [Run] from a test. Run starts the binary again as ranks; each runs one scenario of
// this package's table and reports to the test, which plays the controller: it gathers, and it kills and stops ranks that ask for it.
package nettest
