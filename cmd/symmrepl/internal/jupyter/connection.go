package jupyter

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// shortestKey is the least number of characters of an accepted key. Jupyter's own keys have 36.
const shortestKey = 16

// connection is the content of a connection file.
type connection struct {
	Transport string `json:"transport"`
	IP        string `json:"ip"`
	Shell     int    `json:"shell_port"`
	IOPub     int    `json:"iopub_port"`
	Stdin     int    `json:"stdin_port"`
	Control   int    `json:"control_port"`
	Heartbeat int    `json:"hb_port"`
	Scheme    string `json:"signature_scheme"`
	Key       string `json:"key"`
	CurveKey  string `json:"curve_secretkey"`
}

// readConnection reads a connection file. It refuses connections that this kernel cannot serve, or
// cannot serve safely.
func readConnection(file string) (connection, error) {
	c := connection{Transport: "tcp", IP: "127.0.0.1", Scheme: "hmac-sha256"}
	text, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s is not a connection file: %w", file, err)
	}
	switch {
	case c.Transport != "tcp" && c.Transport != "ipc":
		return c, fmt.Errorf("%s: the transport %q is unknown; tcp and ipc are served", file, c.Transport)
	case c.Scheme != "hmac-sha256":
		return c, fmt.Errorf("%s: the signature scheme %q is unknown; hmac-sha256 is served", file, c.Scheme)
	case c.CurveKey != "":
		return c, fmt.Errorf("%s asks for encryption by CurveZMQ, which is not served: leave transport_encryption of Jupyter's KernelManager at "+
			"\"disabled\" or \"auto\"", file)
	case c.Transport == "tcp" && c.Key != "" && len(c.Key) < shortestKey:
		return c, fmt.Errorf("%s: a key of fewer than %d characters can be guessed by anybody who reaches %s: leave Session.key of Jupyter's "+
			"configuration out, and Jupyter makes a random one", file, shortestKey, c.IP)
	case c.Transport == "tcp" && c.Key == "" && !loopback(c.IP):
		return c, fmt.Errorf("%s: anybody who reaches %s could run code: give the connection a key, or the address 127.0.0.1", file, c.IP)
	}
	return c, nil
}

// warning describes the risk of a connection that Jupyter's settings ask for although it is unsafe;
// "" if there is none.
func (c connection) warning() string {
	if c.Transport != "tcp" || c.Key != "" {
		return ""
	}
	return "the connection has no key: every user of this machine can run code in this kernel. Jupyter's configuration asks for that by an empty Session.key"
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// listen opens the connection's ports.
func (c connection) listen() (shell, iopub, stdin, control, heartbeat net.Listener, err error) {
	var opened []net.Listener
	open := func(channel string, port int) net.Listener {
		if err != nil {
			return nil
		}
		var l net.Listener
		l, err = c.open(port)
		switch {
		case err == nil:
			opened = append(opened, l)
		case errors.Is(err, syscall.EADDRINUSE):
			err = fmt.Errorf("the %s port, which Jupyter chose, is in use: %w. Another kernel that was started at the same time may have "+
				"taken it: start this one again, and Jupyter chooses others", channel, err)
		default:
			err = fmt.Errorf("the %s port: %w", channel, err)
		}
		return l
	}
	shell, iopub, stdin = open("shell", c.Shell), open("iopub", c.IOPub), open("stdin", c.Stdin)
	control, heartbeat = open("control", c.Control), open("heartbeat", c.Heartbeat)
	if err != nil {
		for _, l := range opened {
			err = errors.Join(err, l.Close())
		}
	}
	return shell, iopub, stdin, control, heartbeat, err
}

func (c connection) open(port int) (net.Listener, error) {
	if c.Transport == "ipc" {
		name := c.IP + "-" + strconv.Itoa(port)
		l, err := userdir.Bind(name)
		if errors.Is(err, syscall.EADDRINUSE) && abandoned(name) {
			if err = os.Remove(name); err == nil {
				l, err = userdir.Bind(name)
			}
		}
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	host := c.IP
	if host == "*" {
		host = ""
	}
	return net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

// abandoned reports whether no process listens on a socket, as after a kernel was killed.
func abandoned(name string) bool {
	info, err := os.Lstat(name)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	conn, err := net.Dial("unix", name)
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
