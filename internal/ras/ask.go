package ras

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// The environment variables of NCCL that concern RAS.
const (
	addressVariable = "NCCL_RAS_ADDR"
	enableVariable  = "NCCL_RAS_ENABLE"
)

// standard is the address at which RAS answers unless addressVariable names another one.
const standard = "localhost:28028"

// protocol is the version of the client's protocol. RAS ignores it and answers with its own; the
// commands used here are the same in all of them.
const protocol = 2

// most bounds an answer, in bytes.
const most = 16 << 20

// ErrNoJSON is the error of an RAS that answers but cannot write JSON.
var ErrNoJSON = errors.New("NCCL's RAS says which ranks are behind from NCCL 2.28.7 on; this one is older")

// Address returns the address at which RAS answers, by the environment; "" if RAS is off.
func Address(getenv func(string) string) string {
	if getenv(enableVariable) == "0" {
		return ""
	}
	if at := getenv(addressVariable); at != "" {
		return at
	}
	return standard
}

// Ask asks the RAS at an address for the state of all communicators. It takes as long as ctx has,
// which needs a deadline: RAS itself waits for ranks that do not answer until shortly before then.
//
// Errors: [ErrNoJSON], errors of the connection, and of an answer that is not RAS's.
func Ask(ctx context.Context, address string) (*Status, error) {
	deadline, limited := ctx.Deadline()
	if !limited {
		return nil, errors.New("ras: a question needs a deadline")
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("ras: %w", err)
	}
	defer c.Close()
	c.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Now()) })()
	in := bufio.NewReader(io.LimitReader(c, most+1))
	for _, q := range []struct{ send, want string }{
		{fmt.Sprintf("CLIENT PROTOCOL %d", protocol), "SERVER PROTOCOL "},
		{fmt.Sprintf("TIMEOUT %d", max(1, int(time.Until(deadline).Seconds()/2))), "OK"},
		{"SET FORMAT json", "OK"},
	} {
		if _, err := io.WriteString(c, q.send+"\n"); err != nil {
			return nil, fmt.Errorf("ras: %w", err)
		}
		line, err := readLine(in)
		switch {
		case err != nil:
			return nil, fmt.Errorf("ras: no answer to %q: %w", q.send, err)
		case strings.HasPrefix(line, "ERROR: ") && strings.HasPrefix(q.send, "SET FORMAT"):
			return nil, ErrNoJSON
		case !strings.HasPrefix(line, q.want):
			return nil, fmt.Errorf("ras: the answer to %q is %q, not %q", q.send, line, strings.TrimSpace(q.want))
		}
	}
	if _, err := io.WriteString(c, "VERBOSE STATUS\n"); err != nil {
		return nil, fmt.Errorf("ras: %w", err)
	}
	data, err := io.ReadAll(in) // RAS closes the connection behind the answer
	switch {
	case err != nil:
		return nil, fmt.Errorf("ras: %w", err)
	case len(data) >= most:
		return nil, fmt.Errorf("ras: the answer has more than %d bytes", most)
	}
	return Parse(data)
}

// readLine reads a short line.
func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}
