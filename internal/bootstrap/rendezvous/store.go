package rendezvous

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Queries of the key-value store that torchrun's agent keeps (PyTorch's TCPStore). Numbers on the
// wire are little-endian, as on every machine that has a GPU; strings and values have a 64-bit
// length.
const (
	storeValidate = 0
	storeSet      = 1
	storeGet      = 3
	storeWait     = 6

	storeMagic   = 0x3C85F7CE
	storeStopped = 0 // the answer to a wait when the key exists
	storeLimit   = 64 << 10
)

// storeTimeout bounds an exchange with a store that should answer at once.
const storeTimeout = 3 * time.Second

// store is a connection to a TCPStore, used by one goroutine. The store authenticates no one:
// addresses may pass through it, secrets may not.
type store struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialStore(ctx context.Context, address string) (*store, error) {
	d := net.Dialer{Timeout: storeTimeout}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &store{conn, bufio.NewReader(conn)}
	// In one write: the server reads the magic together with the query, or hangs up.
	if err := s.send(binary.LittleEndian.AppendUint32([]byte{storeValidate}, storeMagic)); err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *store) close() { s.conn.Close() }

// set stores a value; the server does not answer.
func (s *store) set(key, value string) error {
	return s.send(appendString(appendString([]byte{storeSet}, key), value))
}

// wait waits until key exists and returns its value.
func (s *store) wait(ctx context.Context, key string) (string, error) {
	defer context.AfterFunc(ctx, func() { s.conn.Close() })()
	value, err := s.waitFor(key)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return value, err
}

func (s *store) waitFor(key string) (string, error) {
	query := binary.LittleEndian.AppendUint64([]byte{storeWait}, 1)
	if err := s.send(appendString(query, key)); err != nil {
		return "", err
	}
	s.conn.SetReadDeadline(time.Time{}) // rank 0 may be late
	answer, err := s.in.ReadByte()
	if err != nil {
		return "", err
	}
	if answer != storeStopped {
		return "", fmt.Errorf("the store answers %d to a wait", answer)
	}
	if err := s.send(appendString([]byte{storeGet}, key)); err != nil {
		return "", err
	}
	s.conn.SetReadDeadline(time.Now().Add(storeTimeout))
	return readString(s.in)
}

func (s *store) send(query []byte) error {
	s.conn.SetWriteDeadline(time.Now().Add(storeTimeout))
	_, err := s.conn.Write(query)
	return err
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func readString(r io.Reader) (string, error) {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return "", err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > storeLimit {
		return "", errors.New("the store's answer is too long: it is not the one expected")
	}
	value := make([]byte, n)
	_, err := io.ReadFull(r, value)
	return string(value), err
}
