// Package main keeps account of the time that commands take:
//
//	account [-as STAGE [-less INNER]] FILE COMMAND [ARGUMENT...]   runs a command and adds a line to FILE
//	account -print FILE [OLDER]                                    prints a file as a table, beside an older one
//
// A line of the file has the name of a stage, then the wall, user and system time of its command in
// seconds, separated by tabs. User and system time include all processes that the command has
// started and waited for, less the times in the lines of INNER. Without -as, the stage is the
// folder in which the command runs, relative to the module's root: go test -exec runs the tests of
// a package so; with -less, the rest of go test's own time is the time of builds.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	stage := flag.String("as", "", "the name of the stage")
	inner := flag.String("less", "", "a file whose entries are not counted again")
	print := flag.Bool("print", false, "print files")
	flag.Parse()
	args := flag.Args()
	var err error
	switch {
	case *print && (len(args) == 1 || len(args) == 2):
		err = compare(os.Stdout, args)
	case !*print && len(args) >= 2:
		var status int
		if status, err = run(*stage, *inner, args[0], args[1:]); err == nil {
			os.Exit(status)
		}
	default:
		err = errors.New("usage: account [-as STAGE [-less INNER]] FILE COMMAND [ARGUMENT...], or account -print FILE [OLDER]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "account:", err)
		os.Exit(2)
	}
}

// run runs a command, adds its line to a file and returns its exit status.
func run(stage, inner, file string, command []string) (status int, err error) {
	if stage == "" {
		if stage, err = folder(); err != nil {
			return 0, err
		}
	}
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	signal.Ignore(syscall.SIGINT) // a terminal sends it to the command, too
	begun := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			c.Process.Signal(s)
		}
	}()
	c.Wait()
	used := c.ProcessState
	line := entry{stage, time.Since(begun), used.UserTime(), used.SystemTime()}
	if inner != "" {
		counted, err := read(inner)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		for _, e := range counted {
			line.user, line.system = line.user-e.user, line.system-e.system
		}
	}
	if err := line.appendTo(file); err != nil {
		return 0, err
	}
	if s, ok := used.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return used.ExitCode(), nil
}

// folder returns the current folder relative to the root of the module, for the root the module's
// own folder name.
func folder() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for root := here; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			name, err := filepath.Rel(root, here)
			if name == "." {
				name = filepath.Base(root)
			}
			return name, err
		}
		if root == filepath.Dir(root) {
			return "", cmp.Or(err, fmt.Errorf("%s is in no module: name the stage with -as", here))
		}
	}
}
