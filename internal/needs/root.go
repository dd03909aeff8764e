// Package needs skips tests for which a machine lacks something.
package needs

import (
	"os"
	"testing"
)

// root begins the reason of a skipped test that would run as root. .ci/test-root runs these tests.
const root = "needs root: "

// Root skips a test that does not run as root. The reason names the action that only root can take.
func Root(t testing.TB, reason string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip(root + reason)
	}
}
