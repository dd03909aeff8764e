package torchrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jsonlines"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/internal/procfs"
)

const (
	helloWithin = 10 * time.Second // after a process has connected
	goneEvery   = 100 * time.Millisecond
)

// Watch begins to explain a program whose ranks are started by another program, such as PyTorch's torchrun.
// The ranks connect to socket. It ends when all ranks have ended, or with ctx; the ranks then go on. Of the
// fields of Program it uses Name, Ranks, Deadlock and Emit.
func (p *Program) Watch(ctx context.Context) (socket string, ended <-chan struct{}, err error) {
	dir, err := userdir.New()
	if err != nil {
		return "", nil, err
	}
	socket = filepath.Join(dir.Path, "ranks")
	l, err := userdir.Listen(socket)
	if err != nil {
		dir.Remove()
		return "", nil, err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer dir.Remove()
		p.watch(ctx, l)
	}()
	return socket, over, nil
}

// watch watches the ranks that connect to l, which it closes.
func (p *Program) watch(ctx context.Context, l net.Listener) {
	r := p.run()
	defer close(r.over)
	defer l.Close()
	go r.join(l)
	defer r.lend()()
	for len(r.ranks) < p.Ranks {
		select {
		case do := <-r.queue:
			do()
		case <-ctx.Done():
			return
		}
	}
	l.Close()
	r.loop(nil, ctx.Done())
}

// join adds the ranks that connect, once all have. What a rank has sent until then is read after that.
func (r *run) join(l net.Listener) {
	joined := make([]*rank, r.Ranks)
	sent := make([]*jsonlines.Reader, r.Ranks)
	for left := r.Ranks; left > 0; {
		conn, err := l.Accept()
		if err != nil {
			return // the run is over
		}
		c := conn.(*net.UnixConn)
		lines := jsonlines.NewReader(c, maxLine)
		number, pid, err := hello(c, lines)
		if err == nil && (number >= len(joined) || joined[number] != nil) {
			err = fmt.Errorf("there is no rank %d to come", number)
		}
		if err != nil {
			r.do(func() { r.note(fmt.Sprintf("a process that is no rank of %s has connected: %v\n", r.Name, err)) })
			c.Close()
			continue
		}
		joined[number] = &rank{number: number, pid: pid, target: pid, watched: c, manner: answering}
		sent[number] = lines
		left--
	}
	r.do(func() { r.ranks = joined })
	for n, rk := range joined {
		go listen(sent[n], func(m *message) { r.do(func() { r.heard(rk, m) }) }, func() { r.awaitEnd(rk) })
	}
}

// hello reads the first line of a process, which says which rank it is.
func hello(c *net.UnixConn, lines *jsonlines.Reader) (number, pid int, err error) {
	c.SetReadDeadline(time.Now().Add(helloWithin))
	defer c.SetReadDeadline(time.Time{})
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var peer *unix.Ucred
	control := func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }
	if controlErr := raw.Control(control); controlErr != nil || err != nil {
		return 0, 0, errors.Join(controlErr, err)
	}
	line, err := lines.Next()
	if err != nil {
		return 0, 0, err
	}
	m := struct{ Watched, Rank int }{Rank: -1}
	if json.Unmarshal(line, &m) != nil || m.Watched == 0 || m.Rank < 0 {
		return 0, 0, errors.New("its first line names no rank")
	}
	return m.Rank, int(peer.Pid), nil
}

// awaitEnd notes the end of a rank that is no child of this process, once it has closed its socket.
func (r *run) awaitEnd(rk *rank) {
	for {
		stat, err := procfs.Read(fmt.Sprintf("/proc/%d/stat", rk.pid))
		if err != nil || stat.State == "Z" || stat.State == "X" {
			break
		}
		time.Sleep(goneEvery)
	}
	rk.watched.Close()
	r.do(func() { r.rankEnded(rk, "") })
}
