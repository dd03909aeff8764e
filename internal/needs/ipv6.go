package needs

import (
	"net"
	"testing"
)

// IPv6 skips a test on a machine whose loopback interface has no address of IPv6.
func IPv6(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("the loopback interface has no IPv6")
	}
	l.Close()
}
