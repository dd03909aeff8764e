package rendezvous

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fewVariable marks the process that plays rank 0 for the test.
const fewVariable = "SYMMREPL_TEST_FEW_DESCRIPTORS"

// rank0 listens with few descriptors and prints its address.
func rank0(t *testing.T) {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 256, Max: 256}); err != nil {
		t.Fatal(err)
	}
	config, err := tlsConfig(testToken)
	if err != nil {
		t.Fatal(err)
	}
	at := Meeting{Place: &Place{address: "127.0.0.1:0", tls: config}, Size: 200, Version: 1}
	s, err := at.Serve(t.Context(), func(*Link) (func(), string) { return func() { select {} }, "" })
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("listens at", s.loop.Listener.Addr())
	os.Stdin.Read(make([]byte, 1))
	fmt.Println("trouble:", s.Trouble())
}

// Hundreds of silent connections, more than rank 0 has descriptors for, keep no rank out, neither
// while they are open nor afterwards.
func TestHalfOpenConnections(t *testing.T) {
	if os.Getenv(fewVariable) != "" {
		rank0(t)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestHalfOpenConnections$")
	cmd.Env = append(os.Environ(), fewVariable+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer stdin.Close()
	lines := bufio.NewScanner(stdout)
	next := func(prefix string) string {
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return rest
			}
		}
		t.Fatalf("rank 0 does not say %q", prefix)
		return ""
	}
	address := next("listens at ")
	config, err := tlsConfig(testToken)
	if err != nil {
		t.Fatal(err)
	}
	at := Meeting{Place: &Place{address: address, tls: config}, Size: 200, Version: 1}
	join := func(rank int) {
		t.Helper()
		began := time.Now()
		link, err := at.Join(bounded(t), rank, 0)
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		t.Cleanup(func() { link.Close() })
		if took := time.Since(began); took > 2*HandshakeTimeout {
			t.Errorf("rank %d has joined after %v", rank, took)
		}
	}
	join(1)
	for range 400 {
		conn, err := net.DialTimeout("tcp", address, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	for rank := 2; rank < 6; rank++ {
		join(rank)
	}
	stdin.Close()
	if said := next("trouble: "); !strings.Contains(said, "too many open files") ||
		!strings.Contains(said, "`ulimit -n` there is too low") || !strings.Contains(said, "to make room, rank 0 closed ") {
		t.Error(said)
	}
}
