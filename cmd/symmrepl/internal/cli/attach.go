package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/lending"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
)

// attach runs symmrepl attach [DIR | PID].
func attach(ctx context.Context, _ options, args []string) (int, error) {
	if len(args) > 1 {
		return 0, misused("attach takes one session or program at most; %d were given", len(args))
	}
	dir := ""
	if len(args) == 1 {
		if dir = args[0]; isNumber(dir) {
			if dir = lending.Find(ctx, args[0]); dir == "" {
				return 0, fmt.Errorf("process %s is no symmrepl torchrun of yours on this host", args[0])
			}
		}
	}
	if dir == "" {
		var err error
		if dir, err = chooseSession(ctx, slices.Concat(lending.Running(), controller.Running()), "symmrepl attach "); err != nil {
			return 0, err
		}
	}
	if lending.IsProgram(dir) {
		return attachToProgram(ctx, dir)
	}
	s, err := attachTo(ctx, dir, "symmrepl attach ")
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return front(ctx, options{}, s)
}

// isNumber reports whether a text names a process, and not a folder.
func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" && text != "" }

// attachTo attaches to the running session of a folder and prints which session that is. If dir is
// empty, it attaches to the only session; if there are several, the user chooses. An error that
// asks for a choice gives an example, made of choose and a folder.
func attachTo(ctx context.Context, dir, choose string) (*opened, error) {
	if dir == "" {
		var err error
		if dir, err = chooseSession(ctx, controller.Running(), choose); err != nil {
			return nil, err
		}
	}
	s, err := controller.Attach(ctx, dir)
	if err != nil {
		return nil, err
	}
	infos, err := s.Ranks(ctx)
	if err != nil {
		s.Close()
		return nil, err
	}
	o := &opened{Session: s, size: len(infos), emulated: emulated(strings.SplitN(infos[0].Device, ":", 2)[0]), attached: true, dir: dir}
	notice(o.attachedTo())
	return o, nil
}

// attachedTo describes the session to which this process is attached.
func (s *opened) attachedTo() string { return "attached to the session in " + s.dir }

// chooseSession returns one of the folders of running sessions, newest first. Without a terminal,
// several sessions are an error, because the choice cannot be guessed.
func chooseSession(ctx context.Context, dirs []string, choose string) (string, error) {
	switch len(dirs) {
	case 0:
		return "", errors.New("no session of yours runs on this host; start one with `symmrepl`")
	case 1:
		return dirs[0], nil
	}
	list := fmt.Sprintf("%d sessions of yours run on this host:", len(dirs))
	for i, dir := range dirs {
		list += fmt.Sprintf("\n%6d  %s  %s", i+1, dir, describeSession(ctx, dir))
	}
	if !term.Interactive() {
		return "", errors.New(list + "\n          name one, as in `" + choose + dirs[0] + "`")
	}
	notice(list)
	for {
		fmt.Fprintf(os.Stderr, "Which one? A number, or Enter for the newest, 1: ")
		answer, err := readLine(ctx, os.Stdin)
		if err != nil {
			return "", errors.New("no session was chosen")
		}
		if answer == "" {
			return dirs[0], nil
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(dirs) {
			return dirs[n-1], nil
		}
	}
}

// readLine reads a line from a terminal that edits lines, until ctx ends. It reads nothing beyond
// the line.
func readLine(ctx context.Context, from io.Reader) (string, error) {
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReaderSize(from, 16).ReadString('\n')
		read <- line{strings.TrimSpace(text), err}
	}()
	select {
	case l := <-read:
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// describeWithin bounds how long a session may take to describe itself.
const describeWithin = time.Second

// describeSession describes the session of a folder in a few words.
func describeSession(ctx context.Context, dir string) string {
	said := make(chan string, 1)
	go func() {
		if lending.IsProgram(dir) {
			p, err := lending.Describe(ctx, dir)
			if err != nil {
				said <- "cannot be reached"
				return
			}
			said <- fmt.Sprintf("%s, %s of symmrepl torchrun, process %d", p.Name, session.FormatSize(p.Ranks), p.PID)
			return
		}
		s, err := controller.Attach(ctx, dir)
		if err != nil {
			said <- "cannot be reached"
			return
		}
		defer s.Close()
		infos, err := s.Ranks(ctx)
		if err != nil || len(infos) == 0 {
			said <- "cannot be reached"
			return
		}
		said <- session.FormatSize(len(infos)) + ", " + infos[0].Device
	}()
	text := "does not answer"
	select {
	case text = <-said:
	case <-time.After(describeWithin):
	}
	if info, err := os.Stat(dir); err == nil {
		text += ", since " + info.ModTime().Format(time.TimeOnly)
	}
	return text
}
