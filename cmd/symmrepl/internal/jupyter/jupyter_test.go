package jupyter

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestSignatures(t *testing.T) {
	s := newSigner("secret")
	frames, err := s.frames("session", "kernel_info_request", nil, content{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	withIdentity := append([][]byte{[]byte("identity")}, frames...)
	r, err := s.parse("peer", withIdentity)
	if err != nil || r.Type != "kernel_info_request" || r.peer != "peer" || string(r.content) != `{"a":1}` {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := s.parse("peer", frames); err == nil || !strings.Contains(err.Error(), "was received before") {
		t.Errorf("a replayed message: %v", err)
	}
	for name, change := range map[string]func([][]byte) [][]byte{
		"other content":   func(f [][]byte) [][]byte { f[5] = []byte(`{"a":2}`); return f },
		"other signature": func(f [][]byte) [][]byte { f[1] = []byte(strings.Repeat("0", 64)); return f },
		"no signature":    func(f [][]byte) [][]byte { f[1] = nil; return f },
		"too short":       func(f [][]byte) [][]byte { return f[:5] },
		"no delimiter":    func(f [][]byte) [][]byte { return f[1:] },
	} {
		frames, err := s.frames("session", "x", nil, content{"a": 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.parse("peer", change(frames)); err == nil {
			t.Errorf("%s: the message passes", name)
		}
	}
	open := newSigner("")
	frames, _ = open.frames("session", "x", nil, content{})
	for range 2 {
		if _, err := open.parse("peer", frames); err != nil {
			t.Errorf("without a key: %v", err)
		}
	}
}

// TestRemembered checks that the number of known signatures is bounded and that the oldest are
// forgotten.
func TestRemembered(t *testing.T) {
	s := newSigner("secret")
	check := func(i int) error {
		part := [][]byte{fmt.Append(nil, i)}
		return s.check(s.sign(part), part)
	}
	for i := range remembered + 1 {
		if err := check(i); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.seen) != remembered || check(1) == nil || check(0) != nil {
		t.Errorf("%d signatures are known", len(s.seen))
	}
}

func TestConnectionFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.json")
	for text, want := range map[string]string{
		`{}`: "",
		`{"ip": "0.0.0.0", "key": "0123456789abcdef"}`:     "",
		`{"ip": "0.0.0.0", "key": "k"}`:                    "can be guessed",
		`{"key": "k"}`:                                     "can be guessed",
		`{"transport": "ipc", "ip": "/tmp/s"}`:             "",
		`{"ip": "0.0.0.0"}`:                                "give the connection a key",
		`{"ip": "*"}`:                                      "give the connection a key",
		`{"transport": "udp"}`:                             `the transport "udp" is unknown`,
		`{"signature_scheme": "hmac-md5"}`:                 `the signature scheme "hmac-md5" is unknown`,
		`{"curve_publickey": "p", "curve_secretkey": "s"}`: "asks for encryption by CurveZMQ, which is not served",
		`[`: "is not a connection file",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readConnection(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The kernel serves a connection without a key, with a warning, if Jupyter asks for it on this
// machine only.
func TestMissingKeyIsWarnedAbout(t *testing.T) {
	for _, test := range []struct {
		c     connection
		warns bool
	}{
		{connection{Transport: "tcp", IP: "127.0.0.1"}, true},
		{connection{Transport: "tcp", IP: "127.0.0.1", Key: "0123456789abcdef"}, false},
		{connection{Transport: "ipc", IP: "/tmp/s"}, false},
	} {
		if got := test.c.warning(); (got != "") != test.warns {
			t.Errorf("%+v: %q", test.c, got)
		}
	}
}

// Another program may take a port between Jupyter's search and the kernel's listen. The kernel then
// closes the ports that it has opened.
func TestPortInUse(t *testing.T) {
	t.Chdir(t.TempDir()) // the path of a Unix socket must be short
	taken, err := net.Listen("unix", "s-3")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, _, _, _, _, err = connection{Transport: "ipc", IP: "s", Shell: 1, IOPub: 2, Stdin: 3, Control: 4, Heartbeat: 5}.listen()
	want := "the stdin port, which Jupyter chose, is in use: listen unix s-3: bind: address already in use. " +
		"Another kernel that was started at the same time may have taken it: start this one again, and Jupyter chooses others"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if left, _ := filepath.Glob("*"); !reflect.DeepEqual(left, []string{"s-3"}) {
		t.Errorf("the kernel leaves the sockets %v", left)
	}
}

// A socket left by a killed kernel is replaced. A socket in use and a file of another kind are
// errors.
func TestPortLeft(t *testing.T) {
	t.Chdir(t.TempDir())
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: "s-2"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	c := connection{Transport: "ipc", IP: "s", Shell: 1, IOPub: 2, Stdin: 3, Control: 4, Heartbeat: 5}
	_, iopub, _, _, _, err := c.listen()
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("unix", "s-2"); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	if _, _, _, _, _, err := c.listen(); err == nil || iopub.Close() != nil {
		t.Errorf("sockets that another kernel listens on: %v", err)
	}
	if err := os.WriteFile("s-2", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Shell, c.Stdin, c.Control, c.Heartbeat = 6, 7, 8, 9
	if _, _, _, _, _, err := c.listen(); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a file of another kind: %v", err)
	}
}

// Only the user can connect to a socket, whatever the umask. A path that is too long for a socket is
// an error that says so.
func TestSocketPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	defer syscall.Umask(syscall.Umask(0))
	l, err := connection{Transport: "ipc", IP: "s"}.open(1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat("s-1"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	_, _, _, _, _, err = connection{Transport: "ipc", IP: strings.Repeat("s", 106), Shell: 1}.listen()
	if want := "has 108 bytes, and the path of a socket has at most 107: give a shorter path"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("a long path: %v", err)
	}
}

func TestHistory(t *testing.T) {
	var h history
	for i, input := range []string{"x := 1", "y := 2", "x := 1", "%ranks"} {
		h.add(i+1, input)
	}
	h.result(4, "lost")
	h.add(5, "y")
	h.result(5, "[0] 2")
	two, four := 2, 4
	for _, test := range []struct {
		q    historyRequest
		want string
	}{
		{historyRequest{Access: "tail", N: &two}, "[[1 4 %ranks] [1 5 y]]"},
		{historyRequest{Access: "tail", N: new(int)}, "[]"},
		{historyRequest{Access: "tail", Output: true, N: &two}, "[[1 4 [%ranks lost]] [1 5 [y [0] 2]]]"},
		{historyRequest{Access: "range", Start: 2, Stop: &four}, "[[1 2 y := 2] [1 3 x := 1]]"},
		{historyRequest{Access: "range", Session: 7}, "[]"},
		{historyRequest{Access: "search", Pattern: "?*:=*"}, "[[1 1 x := 1] [1 2 y := 2] [1 3 x := 1]]"},
		{historyRequest{Access: "search", Pattern: "x*", Unique: true}, "[[1 3 x := 1]]"},
		{historyRequest{Access: "search", Pattern: "*", N: &two}, "[[1 4 %ranks] [1 5 y]]"},
	} {
		if got := fmt.Sprint(h.find(test.q)); got != test.want {
			t.Errorf("%+v: %s, want %s", test.q, got, test.want)
		}
	}
}

func TestCursor(t *testing.T) {
	three := 3
	for code, want := range map[string]int{"abcd": 3, "é∑𝄞x": 9, "ab": 2} {
		if got := (cursor{code, &three}).at(); got != want {
			t.Errorf("%q: %d, want %d", code, got, want)
		}
	}
	if got := (cursor{"é", nil}).at(); got != 2 {
		t.Errorf("without a position: %d", got)
	}
}

func TestInstall(t *testing.T) {
	dir := t.TempDir()
	got, err := Spec{Argv: []string{"p"}, Display: "d", Version: "1.2"}.Install(dir)
	if want := filepath.Join(dir, "share/jupyter/kernels/symmrepl"); got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	entries, err := os.ReadDir(got)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"kernel.json", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg",
		"symmrepl_jupyter-1.2-py3-none-any.whl"}; !reflect.DeepEqual(names, want) {
		t.Errorf("%v", names)
	}
	extension := filepath.Join(dir, "share/jupyter/labextensions/symmrepl")
	text, err := os.ReadFile(filepath.Join(extension, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Name, Version string
		JupyterLab    struct {
			Build struct{ Load string } `json:"_build"`
		}
	}
	if err := json.Unmarshal(text, &described); err != nil || described.Name != "symmrepl" || described.Version != "1.2" {
		t.Errorf("%s: %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(extension, described.JupyterLab.Build.Load)); err != nil {
		t.Error(err)
	}
}
