package rendezvous

import (
	"crypto/tls"
	"io"
	"strings"
	"testing"
)

const testToken = "0123456789abcdef0123456789abcdef"

// Whoever does not know the token gets no further than the handshake, on either side.
func TestTLSRefusals(t *testing.T) {
	good, err := tlsConfig(testToken)
	if err != nil {
		t.Fatal(err)
	}
	other, err := tlsConfig(strings.ToUpper(testToken))
	if err != nil {
		t.Fatal(err)
	}
	nobody := &tls.Config{InsecureSkipVerify: true}
	old := good.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	trusting := other.Clone()
	trusting.VerifyConnection = nil
	for _, c := range []struct {
		name           string
		server, client *tls.Config
		ok             bool
	}{
		{"the same token", good, good, true},
		{"another token", good, other, false},
		{"another token, server not verified", good, trusting, false},
		{"a server with another token", trusting, good, false},
		{"no certificate", good, nobody, false},
		{"TLS 1.2", good, old, false},
	} {
		l, err := tls.Listen("tcp", "127.0.0.1:0", c.server)
		if err != nil {
			t.Fatal(err)
		}
		reached := make(chan bool, 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			n, _ := conn.Read(make([]byte, 4))
			reached <- n == 4
			conn.Write([]byte("back"))
		}()
		answered := false
		if conn, err := tls.Dial("tcp", l.Addr().String(), c.client); err == nil {
			conn.Write([]byte("data"))
			_, err := io.ReadFull(conn, make([]byte, 4))
			answered = err == nil
			conn.Close()
		}
		if got := <-reached; got != c.ok || answered != c.ok {
			t.Errorf("%s: server reached %v, client answered %v", c.name, got, answered)
		}
		l.Close()
	}
}
