package run

import (
	"bytes"
	"fmt"
	"go/token"
	"io"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"github.com/symmrepl/symmrepl/interp/internal/unexported"
)

// Logger replaces a log.Logger where code of cells calls a method that writes. Package log would
// report a function of the interpreter as the caller; a Logger knows the position of the call.
type Logger struct {
	rt *Runtime
	*log.Logger
	at token.Pos
}

// logger returns l for a call at a position.
func (rt *Runtime) logger(l *log.Logger, at int) *Logger { return &Logger{rt, l, token.Pos(at)} }

func (l *Logger) Print(v ...any)                 { l.Output(0, fmt.Sprint(v...)) }
func (l *Logger) Printf(format string, v ...any) { l.Output(0, fmt.Sprintf(format, v...)) }
func (l *Logger) Println(v ...any)               { l.Output(0, fmt.Sprintln(v...)) }

func (l *Logger) Fatal(v ...any)                 { l.fatal(fmt.Sprint(v...)) }
func (l *Logger) Fatalf(format string, v ...any) { l.fatal(fmt.Sprintf(format, v...)) }
func (l *Logger) Fatalln(v ...any)               { l.fatal(fmt.Sprintln(v...)) }

func (l *Logger) Panic(v ...any)                 { l.panic(fmt.Sprint(v...)) }
func (l *Logger) Panicf(format string, v ...any) { l.panic(fmt.Sprintf(format, v...)) }
func (l *Logger) Panicln(v ...any)               { l.panic(fmt.Sprintln(v...)) }

func (l *Logger) panic(s string) {
	l.Output(0, s)
	panic(s)
}

// fatal ends the process if the cells are a program, and only the cell in a session.
func (l *Logger) fatal(s string) {
	if !l.rt.IsProgram() {
		l.panic(s)
	}
	l.Output(0, s)
	os.Exit(1)
}

// fileFlags are the flags that ask for the position.
const fileFlags = log.Lshortfile | log.Llongfile

// Output writes s as a line. It gives the position of the call whatever the depth is, because the
// callers of a function of a cell are not known.
func (l *Logger) Output(_ int, s string) error {
	flags := l.Flags()
	if flags&fileFlags == 0 {
		return l.Logger.Output(0, s)
	}
	file, line := l.rt.Stacks.FileLine(l.at)
	if flags&log.Lshortfile != 0 {
		file = filepath.Base(file)
	}
	// The position is the last part before the message, or before the prefix if Lmsgprefix puts
	// that in front of the message.
	prefix := l.Prefix()
	if flags&log.Lmsgprefix != 0 {
		s, prefix = prefix+s, ""
	}
	s = fmt.Sprintf("%s:%d: %s", file, line, s)
	var text bytes.Buffer
	log.New(&text, prefix, flags&^fileFlags).Output(0, s)
	lock, err := outputLock(l.Logger)
	if err != nil {
		return err
	}
	out := l.Writer() // Writer takes the lock, too
	lock.Lock()
	defer lock.Unlock()
	_, err = out.Write(text.Bytes())
	return err
}

// outputLock returns the mutex that keeps the lines of a logger apart.
func outputLock(l *log.Logger) (*sync.Mutex, error) {
	f, err := unexported.Field(reflect.ValueOf(l).Elem(), "outMu", reflect.Struct)
	if err != nil {
		return nil, err
	}
	lock, ok := f.Addr().Interface().(*sync.Mutex)
	if !ok {
		return nil, fmt.Errorf("interp: the mutex of a log.Logger is a %s", f.Type())
	}
	return lock, nil
}

// checkLogger checks that a log.Logger has the field that outputLock uses.
func checkLogger() error {
	_, err := outputLock(log.New(io.Discard, "", 0))
	return err
}
