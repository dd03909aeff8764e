//go:build linux && amd64

package cpu

func peerMain() int { return 0 }
