package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const jupyterKey = "0123456789abcdef0123456789abcdef"

// zmtpFrame returns a frame of ZMTP.
func zmtpFrame(flags byte, body []byte) []byte {
	if len(body) < 256 {
		return append([]byte{flags, byte(len(body))}, body...)
	}
	return append(binary.BigEndian.AppendUint64([]byte{flags | 2}, uint64(len(body))), body...)
}

// zmtpMessage returns the frames of a message.
func zmtpMessage(parts ...string) []byte {
	var b []byte
	for i, part := range parts {
		more := byte(1)
		if i == len(parts)-1 {
			more = 0
		}
		b = append(b, zmtpFrame(more, []byte(part))...)
	}
	return b
}

// zmtpHello returns the first bytes that a socket of a kind sends.
func zmtpHello(kind string) []byte {
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	ready := append([]byte("\x05READY\x0bSocket-Type\x00\x00\x00"), append([]byte{byte(len(kind))}, kind...)...)
	return append(greeting, zmtpFrame(4, ready)...)
}

// jupyterRequest returns a signed message with a header and a content.
func jupyterRequest(header, content string) []byte {
	mac := hmac.New(sha256.New, []byte(jupyterKey))
	io.WriteString(mac, header+"{}{}"+content)
	return zmtpMessage("<IDS|MSG>", hex.EncodeToString(mac.Sum(nil)), header, "{}", "{}", content)
}

// jupyterHeader returns the header of a message.
func jupyterHeader(kind string, number int) string {
	return fmt.Sprintf(`{"msg_id":"%d","session":"s","username":"u","date":"","msg_type":"%s","version":"5.3"}`, number, kind)
}

// Ports of the kernel under attack, and the kinds of sockets that connect to them.
const (
	shellPort = 1 + iota
	iopubPort
	stdinPort
	controlPort
	heartbeatPort
)

var jupyterPeers = map[int]string{shellPort: "DEALER", iopubPort: "SUB", stdinPort: "DEALER", controlPort: "DEALER", heartbeatPort: "REQ"}

// jupyterKernel is a kernel whose sockets have paths.
type jupyterKernel struct {
	*talk
	base string
}

func (h home) jupyterKernel() jupyterKernel {
	h.t.Helper()
	k := jupyterKernel{base: filepath.Join(h.dir, "k")}
	file := filepath.Join(h.dir, "connection.json")
	text, err := json.Marshal(map[string]any{"transport": "ipc", "ip": k.base, "shell_port": shellPort, "iopub_port": iopubPort, "stdin_port": stdinPort,
		"control_port": controlPort, "hb_port": heartbeatPort, "key": jupyterKey})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	k.talk = h.talk("kernel", "run", "-n", "1", "--device", "cpu", file)
	h.t.Cleanup(func() { // before talk waits for the end
		conn := k.dial(controlPort)
		defer conn.Close()
		conn.Write(append(zmtpHello("DEALER"), jupyterRequest(jupyterHeader("shutdown_request", 1), `{"restart":false}`)...))
		io.Copy(io.Discard, conn)
	})
	return k
}

// dial connects to a port. It waits for a kernel that starts.
func (k jupyterKernel) dial(port int) net.Conn {
	k.t.Helper()
	for limit := time.Now().Add(patience()); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("unix", fmt.Sprintf("%s-%d", k.base, port))
		if err == nil {
			return conn
		}
		if time.Now().After(limit) {
			k.t.Fatalf("%v (-attackseed %d): %s", err, *attackSeed, k.stderr)
		}
	}
}

// frontEnd sends cells to a kernel and hears all that the kernel publishes.
type frontEnd struct {
	kernel jupyterKernel
	shell  net.Conn
	heard  chan string // pieces of the published bytes, which overlap
	number int
}

func (k jupyterKernel) frontEnd() *frontEnd {
	k.t.Helper()
	iopub, shell := k.dial(iopubPort), k.dial(shellPort)
	k.t.Cleanup(func() { iopub.Close(); shell.Close() })
	iopub.Write(append(zmtpHello("SUB"), zmtpMessage("\x01")...))
	shell.Write(zmtpHello("DEALER"))
	go io.Copy(io.Discard, shell)
	f := &frontEnd{kernel: k, shell: shell, heard: make(chan string, 1<<16), number: 900000}
	go func() {
		defer close(f.heard)
		tail, b := "", make([]byte, 1<<16)
		for {
			n, err := iopub.Read(b)
			if err != nil {
				return
			}
			all := tail + string(b[:n])
			f.heard <- all
			tail = all[max(0, len(all)-100):]
		}
	}()
	return f
}

// runs runs a cell until its output is heard: a kernel aborts the cells that arrive while one fails.
func (f *frontEnd) runs(source, output string) {
	f.kernel.t.Helper()
	send := func() {
		f.number++
		content := fmt.Sprintf(`{"code":%q,"silent":false,"store_history":true,"user_expressions":{},"allow_stdin":false,"stop_on_error":true}`, source)
		if _, err := f.shell.Write(jupyterRequest(jupyterHeader("execute_request", f.number), content)); err != nil {
			f.kernel.t.Fatalf("the kernel has ended (-attackseed %d): %v: %s", *attackSeed, err, f.kernel.stderr)
		}
	}
	send()
	again := time.NewTicker(3 * time.Second)
	defer again.Stop()
	for limit := time.After(patience()); ; {
		select {
		case text, ok := <-f.heard:
			if !ok {
				f.kernel.t.Fatalf("the kernel has ended (-attackseed %d): %s", *attackSeed, f.kernel.stderr)
			}
			if strings.Contains(text, output) {
				return
			}
		case <-again.C:
			send()
		case <-limit:
			f.kernel.t.Fatalf("%s does not print %s (-attackseed %d): %s", source, output, *attackSeed, f.kernel.stderr)
		}
	}
}

// A kernel's five sockets get random bytes, random and huge frames, messages that are cut short, wrong
// signatures and signed messages of random content, by many connections. A front end still gets
// the value that was set before.
func TestAttackedJupyter(t *testing.T) {
	t.Parallel()
	k := newHome(t, 1).jupyterKernel()
	f := k.frontEnd()
	f.runs(`kept := 41; fmt.Println("it", "is ready")`, "it is ready")

	attack := newAttacker(`{"code":"1","silent":false,"store_history":true,"user_expressions":{"a":"kept"},"allow_stdin":true,"stop_on_error":true}`,
		`{"code":"fmt.Pr","cursor_pos":6}`, `{"code":"kept","cursor_pos":2,"detail_level":1}`, `{"output":false,"raw":true,"hist_access_type":"tail","n":3}`,
		`{"target_name":"x"}`, `{"comm_id":"c","target_name":"jupyter.widget","data":{"a":1}}`, `{"value":"text"}`,
		`{"seq":1,"type":"request","command":"evaluate","arguments":{"expression":"kept"}}`, `{"seq":2,"type":"request","command":"dumpCell","arguments":{"code":"1"}}`)
	kinds := []string{"kernel_info_request", "execute_request", "complete_request", "inspect_request", "is_complete_request", "history_request", "comm_info_request",
		"comm_open", "comm_msg", "comm_close", "debug_request", "input_reply", "interrupt_request", "nosuch_request", ""}
	conns := map[int]net.Conn{}
	hangUp := func(port int) {
		if conns[port] != nil {
			conns[port].Close()
			conns[port] = nil
		}
	}
	for i := range *attacks {
		port := shellPort + attack.Intn(heartbeatPort)
		if conns[port] == nil {
			conn := k.dial(port)
			conns[port] = conn
			go io.Copy(io.Discard, conn)
			if attack.Intn(10) > 0 { // otherwise no handshake
				conn.Write(zmtpHello(jupyterPeers[port]))
			}
		}
		m := attack.message()
		switch attack.Intn(40) {
		case 0: // no frame
		case 1:
			m = zmtpFrame(byte(attack.Intn(256)), m)
		case 2: // a frame of any size, of which little comes
			m = append(binary.BigEndian.AppendUint64([]byte{2}, attack.Uint64()>>attack.Intn(64)), m...)
		case 3: // a message without an end
			m = zmtpMessage("<IDS|MSG>", "0", string(m))
			m = m[:attack.Intn(len(m)+1)]
		case 4, 5, 6, 7:
			m = zmtpMessage("<IDS|MSG>", strings.Repeat("0", attack.Intn(100)), string(m), "{}", string(m), "{}")
		case 8, 9, 10, 11:
			m = jupyterRequest(string(m), "{}")
		default:
			m = jupyterRequest(jupyterHeader(kinds[attack.Intn(len(kinds))], i), string(m))
		}
		conns[port].SetWriteDeadline(time.Now().Add(patience()))
		if _, err := conns[port].Write(m); err != nil || attack.Intn(20) == 0 {
			hangUp(port)
		}
	}
	for port := range conns {
		hangUp(port)
	}
	f.runs("kept * 1000 + 1", "41001")
}

// Many connections to each socket of a kernel, silent ones and ones that shake hands and read
// nothing, keep neither a front end that is connected nor a new one from their answers.
func TestAttackedJupyterConnections(t *testing.T) {
	t.Parallel()
	k := newHome(t, 1).jupyterKernel()
	f := k.frontEnd()
	f.runs(`kept := 41; fmt.Println("it", "is ready")`, "it is ready")
	for i := range *attacks {
		for port, kind := range jupyterPeers {
			conn := k.dial(port)
			switch {
			case i%2 == 0:
				conn.Write(zmtpHello(kind))
				if port == iopubPort {
					conn.Write(zmtpMessage("\x01"))
				}
			case i%10 == 1:
				conn.Write(make([]byte, i))
			}
			if i < 100 {
				defer conn.Close() // the others go at once
			} else {
				conn.Close()
			}
		}
	}
	f.runs("kept * 1000 + 1", "41001")
	k.frontEnd().runs("kept * 1000 + 2", "41002")
}
