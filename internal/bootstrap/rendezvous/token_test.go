package rendezvous

import (
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous/storetest"
)

const testToken = "0123456789abcdef0123456789abcdef"

// A process without the token does not get past the handshake, on either side.
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
		if got := receive(t, "what reached the server", reached); got != c.ok || answered != c.ok {
			t.Errorf("%s: server reached %v, client answered %v", c.name, got, answered)
		}
		l.Close()
	}
}

// A secret that can be guessed is refused, and the error says how to make a good one.
func TestWeakTokens(t *testing.T) {
	for token, want := range map[string]string{
		"short":                            "has 5 characters; at least 32 random ones are needed: `head -c 32 /dev/urandom | base64` prints one",
		strings.Repeat("x", 64):            "can be guessed: only 1 of its characters are distinct; `head -c 32 /dev/urandom | base64` prints a good one",
		strings.Repeat("secret", 10):       "can be guessed: only 5 of its characters are distinct",
		testToken:                          "",
		"q7hT0aVx3nB9zKpW2mYc5RdE8sGj4L0u": "",
	} {
		got, err := checkToken(token)
		if want == "" && (err != nil || got != token) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v", token, got, err)
		}
	}
}

// Rank 0 listens on the loopback interface alone if the others look for it there.
func TestLoopbackOnly(t *testing.T) {
	config, err := tlsConfig(testToken)
	if err != nil {
		t.Fatal(err)
	}
	host, port := storetest.Start(t)
	for _, c := range []struct {
		place    Place
		loopback bool
	}{
		{Place{address: "127.0.0.1:0"}, true},
		{Place{address: "localhost:0"}, true},
		{Place{address: "0.0.0.0:0"}, false},
		{Place{address: "gpu03:0"}, false},
		{Place{store: net.JoinHostPort(host, strconv.Itoa(port)), key: "k"}, true},
	} {
		c.place.tls = config
		l, err := c.place.listen(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if at := l.Addr().(*net.TCPAddr); at.IP.IsLoopback() != c.loopback {
			t.Errorf("%s: listens at %v", &c.place, at)
		}
		if c.place.store == "" {
			continue
		}
		if list, err := c.place.addresses(bounded(t)); err != nil || len(list) != 1 || list[0] != l.Addr().String() {
			t.Errorf("published %v, %v", list, err)
		}
	}
}
