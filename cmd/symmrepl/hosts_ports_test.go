package main

import (
	"encoding/hex"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var fullPorts = flag.Bool("fullports", false, "run the test in which ranks look in vain for a port, which takes 20 s")

// listening lists the addresses at which this home's programs listen for TCP connections.
func (h home) listening() (list []netip.AddrPort) {
	h.t.Helper()
	for _, process := range h.processes() {
		sockets := map[string]bool{}
		descriptors, _ := os.ReadDir(filepath.Join(process, "fd"))
		for _, d := range descriptors {
			if to, err := os.Readlink(filepath.Join(process, "fd", d.Name())); err == nil && strings.HasPrefix(to, "socket:[") {
				sockets[strings.Trim(to, "socket:[]")] = true
			}
		}
		for _, table := range []string{"tcp", "tcp6"} {
			text, _ := os.ReadFile(filepath.Join(process, "net", table))
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && sockets[f[9]] {
					list = append(list, addressIn(h.t, f[1]))
				}
			}
		}
	}
	return list
}

// addressIn parses an address of the kernel's tables: words of 32 bits whose bytes are in this
// machine's order, then the port.
func addressIn(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	at, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(at)
	number, failed := strconv.ParseUint(port, 16, 16)
	if err != nil || failed != nil {
		t.Fatalf("address %q", text)
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	ip, ok := netip.AddrFromSlice(b)
	if !ok {
		t.Fatalf("address %q", text)
	}
	return netip.AddrPortFrom(ip, uint16(number))
}

// Between simulated hosts each rank listens at one port of UCX's range, on the loopback interface
// alone. Nothing else listens.
func TestPorts(t *testing.T) {
	t.Parallel()
	needUCX(t)
	h := newHome(t, 4)
	h.env = []string{"UCX_TCP_PORT_RANGE=31100-31115"}
	x := h.terminal("-n", "4", "--hosts", "2", "--device", "cpu")
	x.expect("4 ranks on 2 hosts, cpu.")
	checkAcross(x, 1)
	ports := map[uint16]bool{}
	for _, a := range h.listening() {
		if a.Addr() != netip.MustParseAddr("127.0.0.1") || a.Port() < 31100 || a.Port() > 31115 {
			t.Errorf("a rank listens at %v", a)
		}
		ports[a.Port()] = true
	}
	if len(ports) != 4 {
		t.Errorf("4 ranks listen at %v", ports)
	}
	x.enter(":quit!")
	x.exit(0)
	h.expectNothingLeft()
}

// If the range has fewer ports than there are ranks, the session does not start, and the error
// names the variable to change.
func TestTooFewPorts(t *testing.T) {
	t.Parallel()
	if !*fullPorts {
		t.Skip("takes 20 s: runs with -fullports only, as in make test-long")
	}
	needUCX(t)
	h := newHome(t, 4)
	h.env = []string{"UCX_TCP_PORT_RANGE=31150-31151"}
	const want = "it does not open in 20s: are ports of UCX_TCP_PORT_RANGE=31150-31151 free? Each rank of a machine needs one"
	if r := h.run("", "-n", "4", "--hosts", "2", "--device", "cpu", "-e", "1"); r.status == 0 || !strings.Contains(r.err, want) {
		t.Errorf("%+v, want %s", r, want)
	}
	h.expectNothingLeft()
}
