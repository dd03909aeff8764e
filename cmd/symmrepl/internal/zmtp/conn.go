package zmtp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	maxMessage       = 256 << 20 // bytes of its frames
	maxFrames        = 1024      // of a message
	maxCommand       = 64 << 10  // bytes; also of a frame of a peer that has not shaken hands
	handshakeTimeout = 10 * time.Second
)

// Bits of a frame's first byte.
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

// conn is a connection after its handshake. One goroutine reads and one writes.
type conn struct {
	net.Conn
	r        *bufio.Reader
	identity string // the name that the peer gave; may be empty
}

func newConn(c net.Conn) *conn { return &conn{Conn: c, r: bufio.NewReader(c)} }

// shake shakes hands as a socket of kind, one of ZeroMQ's names.
func shake(c net.Conn, kind string) (*conn, error) {
	c.SetDeadline(time.Now().Add(handshakeTimeout))
	defer c.SetDeadline(time.Time{})
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3 // signature and version 3.0
	copy(greeting[12:], "NULL")
	if _, err := c.Write(greeting); err != nil {
		return nil, err
	}
	k := newConn(c)
	theirs := make([]byte, 64)
	if _, err := io.ReadFull(k.r, theirs); err != nil {
		return nil, err
	}
	switch {
	case theirs[0] != 0xff || theirs[9]&1 == 0:
		return nil, errors.New("zmtp: the peer does not speak ZMTP")
	case theirs[10] < 3:
		return nil, fmt.Errorf("zmtp: the peer speaks version %d of ZMTP; 3 is needed", theirs[10])
	case string(theirs[12:32]) != "NULL"+string(make([]byte, 16)):
		return nil, fmt.Errorf("zmtp: the peer wants the mechanism %q", theirs[12:32])
	}
	ready := property(property([]byte("\x05READY"), "Socket-Type", kind), "Identity", "")
	if err := k.write(flagCommand, ready); err != nil {
		return nil, err
	}
	flags, body, err := k.frame(maxCommand)
	if err != nil {
		return nil, err
	}
	properties, err := parseReady(flags, body)
	if err != nil {
		return nil, err
	}
	k.identity = properties["identity"]
	return k, nil
}

// property appends a name and its value to a command.
func property(b []byte, name, value string) []byte {
	b = append(append(b, byte(len(name))), name...)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
}

// parseReady returns the properties of a READY command, by name in lower case.
func parseReady(flags byte, body []byte) (map[string]string, error) {
	malformed := errors.New("zmtp: the peer's READY is malformed")
	if flags&flagCommand == 0 || len(body) < 6 || string(body[:6]) != "\x05READY" {
		return nil, malformed
	}
	properties := map[string]string{}
	for body = body[6:]; len(body) > 0; {
		n := int(body[0])
		if len(body) < 1+n+4 {
			return nil, malformed
		}
		name := string(body[1 : 1+n])
		size := binary.BigEndian.Uint32(body[1+n:])
		body = body[1+n+4:]
		if uint64(size) > uint64(len(body)) {
			return nil, malformed
		}
		properties[lower(name)] = string(body[:size])
		body = body[size:]
	}
	return properties, nil
}

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// frame reads one frame of at most limit bytes.
func (c *conn) frame(limit uint64) (flags byte, body []byte, err error) {
	flags, err = c.r.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	var size uint64
	if flags&flagLong != 0 {
		var b [8]byte
		if _, err := io.ReadFull(c.r, b[:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(b[:])
	} else {
		b, err := c.r.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		size = uint64(b)
	}
	if size > limit {
		return 0, nil, fmt.Errorf("zmtp: a frame of %d bytes is too long", size)
	}
	// A stranger may announce more than it sends, so memory is allocated as bytes arrive.
	body, err = io.ReadAll(io.LimitReader(c.r, int64(size)))
	if err == nil && uint64(len(body)) < size {
		err = io.ErrUnexpectedEOF
	}
	return flags, body, err
}

// read returns the next message. It skips commands: commands of version 3.0 need no answer.
func (c *conn) read() ([][]byte, error) {
	var message [][]byte
	for left := uint64(maxMessage); ; {
		flags, body, err := c.frame(left)
		if err != nil {
			return nil, err
		}
		if flags&flagCommand != 0 {
			if message != nil {
				return nil, errors.New("zmtp: a command in a message")
			}
			continue
		}
		message = append(message, body)
		left -= uint64(len(body))
		if flags&flagMore == 0 {
			return message, nil
		}
		if len(message) == maxFrames {
			return nil, errors.New("zmtp: a message of too many frames")
		}
	}
}

// write writes a frame.
func (c *conn) write(flags byte, body []byte) error {
	_, err := c.Write(appendFrame(nil, flags, body))
	return err
}

// encode returns the bytes of a message.
func encode(message [][]byte) []byte {
	n := 0
	for _, f := range message {
		n += len(f) + 9
	}
	b := make([]byte, 0, n)
	for i, f := range message {
		flags := byte(0)
		if i < len(message)-1 {
			flags = flagMore
		}
		b = appendFrame(b, flags, f)
	}
	return b
}

func appendFrame(b []byte, flags byte, body []byte) []byte {
	if len(body) > 255 {
		b = binary.BigEndian.AppendUint64(append(b, flags|flagLong), uint64(len(body)))
	} else {
		b = append(b, flags, byte(len(body)))
	}
	return append(b, body...)
}
