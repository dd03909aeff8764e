package bootstrap

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/internal/shortdir"
)

// The message and the file arrive although the other process accepts the connection later.
func TestSendFile(t *testing.T) {
	ctx := bounded(t)
	path := filepath.Join(shortdir.New(t), "s")
	l, err := userdir.Bind(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := memfd("the memory")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := descriptors(t, "memfd:")
	message := strings.Repeat("m", 10000)
	if err := SendFile(ctx, path, []byte(message), f); err != nil {
		t.Fatal(err)
	}
	conn, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text, oob := make([]byte, 20000), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := conn.ReadMsgUnix(text, oob)
	if err != nil || string(text[:n]) != message {
		t.Fatalf("%d bytes came (%v)", n, err)
	}
	sent, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		t.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&sent[0])
	if err != nil || len(fds) != 1 {
		t.Fatalf("%v came (%v)", fds, err)
	}
	got := os.NewFile(uintptr(fds[0]), "got")
	if n, _ := got.ReadAt(text, 0); string(text[:n]) != "the memory" {
		t.Errorf("the file has %q", text[:n])
	}
	got.Close()
	if after := descriptors(t, "memfd:"); after != before {
		t.Errorf("%d descriptors are open, %d before", after, before)
	}

	// Nobody listens any more, nobody ever did, and an impossible path.
	l.SetUnlinkOnClose(false)
	l.Close()
	for _, path := range []string{path, path + "none", "", strings.Repeat("x", 200), "\x00"} {
		var unreached *net.OpError
		if err := SendFile(ctx, path, []byte("m"), f); !errors.As(err, &unreached) || unreached.Op != "dial" {
			t.Errorf("to %.20q: %v", path, err)
		}
	}
}
