package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// owner is a user's session at pipes, with a tensor.
func (h home) owner() *talk {
	h.t.Helper()
	s := h.talk("-n", "1", "--device", "cpu")
	s.send([]byte("kept := symm.Empty(symm.F32, 4).Fill(41)\nfmt.Println(\"it is\", \"ready\")\n"), "the first cells")
	s.hears("it is ready")
	return s
}

// hasKept checks that the tensor of an owner is as before.
func (s *talk) hasKept() {
	s.t.Helper()
	s.send([]byte("fmt.Println(\"it is\", kept.Float32s()[3]+1)\n"), "the last cell")
	s.hears("it is 42")
}

// storm sends the server at a socket one message for each of -attacks, by many connections, which begin with
// hello. Some go while the server answers, the others hear its answers to the end.
func (a attacker) storm(t *testing.T, socket string, hello []byte, next func() []byte) {
	t.Helper()
	var conn net.Conn
	var over chan struct{} // closed when the server has closed conn
	for i := range *attacks {
		if conn == nil {
			var err error
			if conn, err = net.Dial("unix", socket); err != nil {
				t.Fatalf("%v (-attackseed %d)", err, *attackSeed)
			}
			over = make(chan struct{})
			go func() {
				defer close(over)
				io.Copy(io.Discard, conn)
			}()
			conn.Write(hello)
		}
		conn.SetWriteDeadline(time.Now().Add(patience()))
		_, err := conn.Write(next())
		if err == nil && a.Intn(50) > 0 && i < *attacks-1 {
			continue
		}
		if a.Intn(3) > 0 {
			conn.(*net.UnixConn).CloseWrite()
			select {
			case <-over:
			case <-time.After(patience()):
				t.Fatalf("the server does not end a connection (-attackseed %d)", *attackSeed)
			}
		}
		conn.Close()
		<-over
		conn = nil
	}
}

// The attach socket gets random frames, by many connections. The session goes on.
func TestAttackedAttach(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	s := h.owner()
	sockets, _ := filepath.Glob(filepath.Join(h.dir, "run", "symmrepl-*", "s*", "attach"))
	if len(sockets) == 0 {
		sockets, _ = filepath.Glob(filepath.Join(h.dir, "*", "symmrepl-*", "s*", "attach"))
	}
	if len(sockets) != 1 {
		t.Fatalf("the sockets are %v", sockets)
	}
	attack := newAttacker(`{"ID":1,"Hello":4}`, `{"ID":2,"Eval":{"Source":"1","Ranks":[0],"Silent":true,"Name":"n","Line":1}}`, `{"ID":3,"Ranks":true}`,
		`{"ID":4,"Inspect":{"Ranks":[0],"Query":{"Topic":"vars","Arg":"x"}}}`, `{"ID":5,"History":true}`, `{"ID":6,"Cancel":true}`, `{"ID":7,"Sanitizer":true}`,
		`{"ID":8,"Debug":true}`, `{"ID":9,"Debugs":8,"Request":{"Frames":0}}`, `{"ID":10,"Line":{"Text":"a","End":true}}`)
	attack.storm(t, sockets[0], nil, func() []byte {
		m := attack.message()
		if attack.Intn(100) == 0 {
			return m // no frame
		}
		frame := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(4+len(m))), uint32(len(m)))
		return append(frame, m...)
	})
	s.hasKept()
}

// Editors that are attached to a session send random requests, some with wrong frames, and go without
// a word. The session goes on.
func TestAttackedDebugger(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	s := h.owner()
	socket := filepath.Join(h.dir, "dap")
	server := h.talk("dap", "--socket", socket)
	defer server.process.Signal(syscall.SIGTERM)
	for limit := time.Now().Add(patience()); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("no socket: %s", server.stderr)
		}
	}
	framed := func(m []byte) []byte { return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(m)), m...) }
	attach := framed([]byte(`{"seq":1,"type":"request","command":"attach","arguments":{}}`))
	attack := newAttacker(`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"a","clientName":"an editor","linesStartAt1":true}}`,
		`{"seq":2,"type":"request","command":"threads"}`, `{"seq":3,"type":"request","command":"stackTrace","arguments":{"threadId":1,"startFrame":0,"levels":3}}`,
		`{"seq":4,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"/x","sourceReference":1},"lines":[1],"breakpoints":[{"line":1}]}}`,
		`{"seq":5,"type":"request","command":"attach","arguments":{"session":"/nosuch","token":""}}`,
		`{"seq":6,"type":"request","command":"launch","arguments":{"program":"/nosuch","ranks":1}}`,
		`{"seq":7,"type":"request","command":"evaluate","arguments":{"expression":"kept","frameId":1,"context":"repl"}}`,
		`{"seq":8,"type":"request","command":"evaluate","arguments":{"expression":"for i := range 3 { fmt.Println(i) }","context":"repl"}}`,
		`{"seq":9,"type":"request","command":"scopes","arguments":{"frameId":1}}`, `{"seq":10,"type":"request","command":"pause","arguments":{"threadId":1}}`,
		`{"seq":11,"type":"request","command":"variables","arguments":{"variablesReference":1,"start":0,"count":3}}`,
		`{"seq":12,"type":"request","command":"continue","arguments":{"threadId":1}}`, `{"seq":13,"type":"request","command":"next","arguments":{"threadId":1}}`,
		`{"seq":14,"type":"request","command":"stepIn","arguments":{"threadId":1}}`, `{"seq":15,"type":"request","command":"stepOut","arguments":{"threadId":1}}`,
		`{"seq":16,"type":"request","command":"setExceptionBreakpoints","arguments":{"filters":["x"]}}`,
		`{"seq":17,"type":"request","command":"source","arguments":{"sourceReference":1}}`, `{"seq":18,"type":"request","command":"loadedSources"}`,
		`{"seq":19,"type":"request","command":"configurationDone"}`, `{"seq":20,"type":"request","command":"terminate"}`,
		`{"seq":22,"type":"request","command":"cancel"}`,
		`{"seq":23,"type":"response","request_seq":1,"success":true}`, `{"seq":24,"type":"event","event":"x"}`)
	attack.storm(t, socket, attach, func() []byte {
		m := attack.message()
		switch attack.Intn(400) {
		case 0: // no header
			return m
		case 1: // a header of another length
			return append(fmt.Appendf(nil, "Content-Length: %s\r\n\r\n", oddities[attack.Intn(len(oddities))]), m...)
		case 2:
			return append(bytes.TrimSuffix(framed(nil), []byte("0\r\n\r\n")), fmt.Appendf(nil, "%d\r\n\r\n%s", attack.Int63(), m)...)
		case 3: // a header without an end
			return []byte(strings.Repeat("x", attack.Intn(1<<16)))
		}
		return framed(m)
	})
	s.hasKept()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatalf("%v: %s", err, server.stderr)
	}
	defer conn.Close()
	e := newEditor(t, conn, conn)
	if r := e.ask("attach", nil); !strings.Contains(fmt.Sprintf("%T", r), "AttachResponse") {
		t.Fatalf("an editor that comes later is answered %+v", r)
	}
	s.hasKept()
}
