package lending

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/clients"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jsonlines"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

const (
	socketName = "torchrun"       // in the folder
	maxLine    = 16 << 20         // of a message, in bytes
	unread     = 10 * time.Second // a client that leaves a reply unread for so long is disconnected
)

// Listen makes a folder and serves requests that come there until stop is called, which removes the
// folder. answer is called concurrently; it must call reply once, then or later.
func Listen(answer func(q Request, reply func(Reply))) (dir string, stop func(), err error) {
	d, err := userdir.New()
	if err != nil {
		return "", nil, err
	}
	l, err := userdir.Listen(filepath.Join(d.Path, socketName))
	if err != nil {
		d.Remove()
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go clients.Serve(ctx, l, func(conn net.Conn) { serve(conn, answer) })
	return d.Path, func() {
		cancel()
		d.Remove()
	}, nil
}

// serve answers the requests of a client until it disconnects.
func serve(conn net.Conn, answer func(Request, func(Reply))) {
	var writing sync.Mutex
	for lines := jsonlines.NewReader(conn, maxLine); ; {
		line, err := lines.Next()
		var q Request
		switch {
		case errors.Is(err, jsonlines.ErrTooLong):
			err = nil
			fallthrough
		case err == nil && json.Unmarshal(line, &q) != nil:
			q = Request{What: "a line that is no request"}
		case err != nil:
			return
		}
		answer(q, func(r Reply) {
			r.ID = q.ID
			text, err := json.Marshal(r)
			if err != nil {
				return
			}
			go func() { // a client that does not read holds nobody up
				writing.Lock()
				defer writing.Unlock()
				conn.SetWriteDeadline(time.Now().Add(unread))
				if _, err := conn.Write(append(text, '\n')); err != nil {
					conn.Close()
				}
			}()
		})
	}
}
