package client

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

// Session is a running session. Its methods are safe for concurrent use; the session runs one cell
// at a time.
type Session struct {
	size int
	link asker
}

// asker is the part of link that a Session uses. It is an interface because gophernotes inspects
// the types of all fields that it can reach, and fails on the generic functions next to sync.Mutex.
type asker interface {
	ask(q request) (reply, []Output)
	interrupt()
	close() error
}

// patience is the time that a session may take to answer a client that attaches.
const patience = 10 * time.Second

// errDetached is the error of a Session that Attach has not returned.
var errDetached = errors.New("the session is not attached: client.Attach returns one that is")

// Attach connects to the session in dir or, if dir is empty, to the newest session of this user on
// this host. It does not start a session: run `symmrepl` for that.
func Attach(dir string) (*Session, error) {
	if dir != "" {
		return attach(dir)
	}
	return attachNewest(os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp")
}

// attachNewest connects to the newest session of this user whose directory is below one of roots.
func attachNewest(roots ...string) (*Session, error) {
	for _, dir := range sessions(roots) {
		s, err := attach(dir)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, os.ErrNotExist) {
			return s, err // an error here means that a session exists, but cannot be used
		}
	}
	return nil, errors.New("no symmrepl session of yours runs on this host; start one with `symmrepl`")
}

func attach(dir string) (*Session, error) {
	conn, err := net.Dial("unix", filepath.Join(dir, "attach"))
	if err != nil {
		return nil, fmt.Errorf("the session in %s cannot be reached: %w", dir, err)
	}
	l := newLink(conn)
	silent := time.AfterFunc(patience, func() { conn.Close() })
	r, _ := l.ask(request{Hello: protocol})
	if r.Err == "" {
		r, _ = l.ask(request{Ranks: true})
	}
	if !silent.Stop() {
		return nil, fmt.Errorf("the session in %s has not answered within %v: it is stopped, or the socket is not a session's", dir, patience)
	}
	if r.Err != "" {
		conn.Close()
		return nil, errors.New(r.Err)
	}
	return &Session{size: len(r.Ranks), link: l}, nil
}

// sessions returns the directories of this user's sessions below roots, newest first. Some of these
// sessions may have ended.
func sessions(roots []string) []string {
	var dirs []string
	made := map[string]int64{}
	for _, root := range roots {
		if root == "" {
			continue
		}
		// Where another user has taken the name of the directory, sessions add a number to it.
		first := filepath.Join(root, fmt.Sprintf("symmrepl-%d", os.Getuid()))
		bases, _ := filepath.Glob(first + "-*")
		var found []string
		for _, base := range append([]string{first}, bases...) {
			if private(base) {
				sockets, _ := filepath.Glob(filepath.Join(base, "s*", "attach"))
				found = append(found, sockets...)
			}
		}
		for _, socket := range found {
			dir := filepath.Dir(socket)
			if info, err := os.Stat(dir); err == nil && made[dir] == 0 {
				dirs, made[dir] = append(dirs, dir), info.ModTime().UnixNano()
			}
		}
	}
	sort.SliceStable(dirs, func(i, j int) bool { return made[dirs[i]] > made[dirs[j]] })
	return dirs
}

// private reports whether only this user can access a directory.
func private(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(owner.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}

// Size returns the number of ranks.
func (s *Session) Size() int {
	if s == nil {
		return 0
	}
	return s.size
}

// Eval runs a cell on all ranks and returns when all have finished. If the cell fails, the error is
// a *CellError and the result is not nil. If the session cannot be reached or does not run the
// cell, the result is nil.
func (s *Session) Eval(source string) (*Result, error) { return s.EvalOn(nil, source) }

// EvalOn runs a cell on the given ranks; nil means all ranks.
func (s *Session) EvalOn(ranks []int, source string) (*Result, error) {
	if s == nil || s.link == nil {
		return nil, errDetached
	}
	r, outputs := s.link.ask(request{Eval: &cell{Source: source, Ranks: ranks}})
	if r.Reply == nil {
		return nil, errors.New(r.Err)
	}
	result := r.Reply
	result.Outputs, result.size = outputs, s.size
	if len(result.Errors) > 0 {
		return result, &CellError{result.Errors, s.size}
	}
	return result, nil
}

// Interrupt ends the cells that this client waits for, on all ranks, as Ctrl-C does at the prompt.
// Their Eval calls return.
func (s *Session) Interrupt() {
	if s != nil && s.link != nil {
		s.link.interrupt()
	}
}

// Close closes the connection; the session continues.
func (s *Session) Close() error {
	if s == nil || s.link == nil {
		return errDetached
	}
	return s.link.close()
}

// String returns, for example, "session of 4 ranks".
func (s *Session) String() string {
	if s.Size() == 1 {
		return "session of 1 rank"
	}
	return fmt.Sprintf("session of %d ranks", s.Size())
}

// prefix returns ranks as a line prefix, such as "[0-3] ". It is empty if the session has only one
// rank.
func prefix(ranks []int, size int) string {
	if size < 2 || len(ranks) == 0 {
		return ""
	}
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		switch {
		case j > i+1:
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[j]))
		case j == i+1:
			parts = append(parts, fmt.Sprint(ranks[i]), fmt.Sprint(ranks[j]))
		default:
			parts = append(parts, fmt.Sprint(ranks[i]))
		}
		i = j + 1
	}
	return "[" + strings.Join(parts, ",") + "] "
}

// prefixed puts a prefix before every line of text.
func prefixed(prefix, text string) string {
	text = strings.TrimSuffix(text, "\n")
	return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix) + "\n"
}
