// Package symmemtest is the suite that symmem must pass on every device, run by real processes.
//
// The test binary starts itself once a rank and drives the ranks as a session does: it serves the bootstrap
// hub, tells all of them which case to run, and collects what each of them has to say. A case is one function
// that every rank runs; it uses the public API only and compares exact values. When a rank fails while others
// wait for it, they are released, and all recover before the next case. So a failure reads like any Go
// test's, with the rank in front.
//
//	go test ./symmem/symmemtest                              the cpu device with 2, 4 and 8 ranks, and the GPUs if there are any
//	SYMMTEST_DEVICE=cuda SYMMTEST_RANKS=4 go test ...        only that
package symmemtest
