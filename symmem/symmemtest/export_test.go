package symmemtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem"
)

// exportCase sends the memory of a tensor to a socket, and checks what is refused.
func exportCase(t *T) {
	dir, remove := t.folder("export")
	defer remove()
	socket := filepath.Join(dir, fmt.Sprint(t.rank))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket})
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer l.Close()
	x := symmem.Empty(symmem.BF16, 4, 2)
	defer x.Free()
	local, pinned := symmem.Local(symmem.F32, 2), symmem.Host(symmem.F32, 2)
	freed := symmem.Local(symmem.F32, 2)
	freed.Free()
	t.refused(symmem.KindMisuse, func() { freed.ExportTo(socket) }, "was freed")
	if strings.HasPrefix(symmem.Caps().Device, "cpu") {
		for _, y := range []*symmem.Tensor{x, x.Slice(0, 0), local, pinned} {
			t.refused(symmem.KindMisuse, func() { y.ExportTo(socket) }, "is on the cpu device", "take a copy")
		}
		return
	}
	t.refused(symmem.KindMisuse, func() { local.ExportTo(socket) }, "in ordinary memory", "tensor of Empty")
	t.refused(symmem.KindMisuse, func() { pinned.ExportTo(socket) }, "in host memory", "tensor of Empty")
	for _, path := range []string{"", "nonsense", "\x00", socket + "/x", dir, strings.Repeat("x", 300)} {
		t.refused(symmem.KindMisuse, func() { x.ExportTo(path) }, "must listen there")
	}
	g := symmem.Capture(func() {
		t.refused(symmem.KindMisuse, func() { x.ExportTo(socket) }, "captured")
	})
	g.Free()

	x.Slice(1, 3).ExportTo(socket)
	conn, err := l.AcceptUnix()
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer conn.Close()
	text, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := conn.ReadMsgUnix(text, oob)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if rest, err := io.ReadAll(conn); len(rest) > 0 || err != nil {
		t.Errorf("behind the message come %d bytes (%v)", len(rest), err)
	}
	sent, _ := unix.ParseSocketControlMessage(oob[:oobn])
	if len(sent) != 1 {
		t.Fatalf("%d control messages came", len(sent))
	}
	fds, err := unix.ParseUnixRights(&sent[0])
	if err != nil || len(fds) != 1 {
		t.Fatalf("the descriptors are %v (%v)", fds, err)
	}
	unix.Close(fds[0])
	var m struct {
		Rank, Size, Offset int
		GPU, DType         string
		Shape              []int
	}
	if err := json.Unmarshal(text[:n], &m); err != nil {
		t.Fatalf("%v", err)
	}
	if m.Rank != t.rank || m.DType != "bf16" || fmt.Sprint(m.Shape) != "[2 2]" ||
		!strings.HasPrefix(m.GPU, "GPU-") || m.Offset%2 != 0 || m.Offset+8 > m.Size {
		t.Errorf("the message is %s", text[:n])
	}
}
