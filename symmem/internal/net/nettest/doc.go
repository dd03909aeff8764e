// Package nettest tests every provider of package net for the same behaviour, between real
// processes.
//
// A test binary calls [Main] from TestMain and [Run] from a test. Run starts the binary again as
// ranks. Each rank runs one scenario of this package's table and reports to the test, which acts as
// the controller: it gathers data, and kills or stops ranks on their request.
package nettest
