package client

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// A message is a frame: the length of the rest of the frame, the length of a JSON header, the
// header, and a payload, which is always empty here. Lengths are four bytes, big-endian.

// protocol is the version of the message format.
const protocol = 4

// maxFrame is the largest accepted header in bytes.
const maxFrame = 64 << 20

// request is a request to the session; exactly one field besides ID is set.
type request struct {
	ID     uint64
	Hello  int   `json:",omitempty"`
	Eval   *cell `json:",omitempty"`
	Ranks  bool  `json:",omitempty"`
	Cancel bool  `json:",omitempty"` // cancel the request with this ID
}

type cell struct {
	Source string
	Ranks  []int
}

// reply answers the request with the same ID: any number of replies with an Output come first, then
// one without.
type reply struct {
	ID     uint64
	Output *Output
	Reply  *Result
	Ranks  []struct{ Rank int }
	Err    string
}

func receive(in *bufio.Reader) (r reply, err error) {
	var lengths [8]byte
	if _, err := io.ReadFull(in, lengths[:]); err != nil {
		return r, err
	}
	total, header := binary.BigEndian.Uint32(lengths[:4]), binary.BigEndian.Uint32(lengths[4:])
	if header > maxFrame || total != 4+header {
		return r, fmt.Errorf("a frame of %d bytes with a header of %d: the other end is not symmrepl", total, header)
	}
	b := make([]byte, header)
	if _, err := io.ReadFull(in, b); err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}
