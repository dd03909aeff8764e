// Package storetest is a key-value store for tests: the part of the store of torchrun's agent that
// rendezvous uses.
package storetest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// Start serves an empty store until the test ends, and returns its host and port.
func Start(t testing.TB) (string, int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &store{values: map[string]string{}, changed: sync.NewCond(&sync.Mutex{})}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	a := l.Addr().(*net.TCPAddr)
	return a.IP.String(), a.Port
}

type store struct {
	changed *sync.Cond
	values  map[string]string
}

// Queries, as on the wire.
const (
	querySet  = 1
	queryGet  = 3
	queryWait = 6
)

func (s *store) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	// A real server expects its whole first message at once.
	in.Peek(1)
	if hello, _ := in.Peek(in.Buffered()); len(hello) < 5 || hello[0] != 0 || binary.LittleEndian.Uint32(hello[1:]) != 0x3C85F7CE {
		return
	}
	in.Discard(5)
	for {
		query, err := in.ReadByte()
		if err != nil {
			return
		}
		if query == queryWait {
			io.CopyN(io.Discard, in, 8)
		}
		key := readString(in)
		s.changed.L.Lock()
		switch query {
		case querySet:
			s.values[key] = readString(in)
			s.changed.Broadcast()
		case queryWait:
			for s.values[key] == "" {
				s.changed.Wait()
			}
			conn.Write([]byte{0})
		case queryGet:
			conn.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(s.values[key]))), s.values[key]...))
		}
		s.changed.L.Unlock()
	}
}

func readString(r io.Reader) string {
	var n uint64
	if binary.Read(r, binary.LittleEndian, &n) != nil || n > 64<<10 {
		return ""
	}
	value := make([]byte, n)
	io.ReadFull(r, value)
	return string(value)
}
