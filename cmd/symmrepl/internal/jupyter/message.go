package jupyter

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/widget"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/zmtp"
)

const (
	protocolVersion = "5.5"
	delimiter       = "<IDS|MSG>" // after it come signature, header, parent header, metadata, content
)

// header is a message's header. Answers contain the whole header of their request, including fields
// that are not listed here.
type header struct {
	ID      string `json:"msg_id"`
	Session string `json:"session"`
	User    string `json:"username"`
	Date    string `json:"date"`
	Type    string `json:"msg_type"`
	Version string `json:"version"`
}

// request is a message from a front end.
type request struct {
	header
	raw      json.RawMessage // the header as received
	peer     string          // the front end that answers go to
	channel  *zmtp.Router    // of a debug request
	cellID   string          // of the notebook's cell, in front ends that have cells
	envelope [][]byte        // the frames before the message, by which a proxy routes the answer
	content  json.RawMessage
	change   *widget.Control // of an event in the queue; nil of other requests
}

// content is the content of a message.
type content = notebook.Content

// signer signs messages and checks signatures. With an empty key, messages have no signatures.
type signer struct {
	key []byte

	mu   sync.Mutex
	seen map[string]bool
	old  []string // the keys of seen, oldest first from next on
	next int
}

// remembered is the number of signatures that are kept to recognise repeated ones.
const remembered = 1 << 16

func newSigner(key string) *signer { return &signer{key: []byte(key), seen: map[string]bool{}} }

func (s *signer) sign(parts [][]byte) string {
	if len(s.key) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, s.key)
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// check returns an error if a signature is wrong or was used before.
func (s *signer) check(signature string, parts [][]byte) error {
	if len(s.key) == 0 {
		return nil
	}
	if !hmac.Equal([]byte(signature), []byte(s.sign(parts))) {
		return errors.New("the signature is wrong")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[signature] {
		return errors.New("the message was received before")
	}
	s.seen[signature] = true
	if len(s.old) < remembered {
		s.old = append(s.old, signature)
		return nil
	}
	delete(s.seen, s.old[s.next])
	s.old[s.next] = signature
	s.next = (s.next + 1) % remembered
	return nil
}

// parse reads a message of a peer.
func (s *signer) parse(peer string, frames [][]byte) (*request, error) {
	var envelope [][]byte
	for len(frames) > 0 && string(frames[0]) != delimiter {
		envelope, frames = append(envelope, frames[0]), frames[1:]
	}
	if len(frames) < 6 {
		return nil, errors.New("the message has too few parts")
	}
	parts := frames[2:6]
	if err := s.check(string(frames[1]), parts); err != nil {
		return nil, err
	}
	r := &request{raw: parts[0], peer: peer, envelope: envelope, content: parts[3]}
	if err := json.Unmarshal(parts[0], &r.header); err != nil {
		return nil, fmt.Errorf("the header is malformed: %w", err)
	}
	var metadata struct {
		CellID string `json:"cellId"`
	}
	json.Unmarshal(parts[2], &metadata) // it is optional, and other front ends have it otherwise
	r.cellID = metadata.CellID
	return r, nil
}

// frames returns a signed message of a type, as an answer to a request (nil: to none).
func (s *signer) frames(session, kind string, parent *request, content any) ([][]byte, error) {
	own, err := json.Marshal(header{
		ID: newID(), Session: session, User: "kernel", Date: time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), Type: kind,
		Version: protocolVersion,
	})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	cause := []byte("{}")
	if parent != nil {
		cause = parent.raw
	}
	parts := [][]byte{own, cause, metadataOf(kind), body}
	return append([][]byte{[]byte(delimiter), []byte(s.sign(parts))}, parts...), nil
}

// metadataOf returns the metadata of messages of a type.
func metadataOf(kind string) []byte {
	if kind == "comm_open" {
		return []byte(`{"version":"` + widget.ProtocolVersion + `"}`)
	}
	return []byte("{}")
}

func newID() string { return rand.Text() }
