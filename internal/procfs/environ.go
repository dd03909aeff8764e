package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Fields of a stat file, counted from the state, with the place of a process's environment in its
// memory.
const (
	fieldEnvStart = 47
	fieldEnvEnd   = 48
)

// WipeEnviron overwrites the value of an environment variable that this process was started with,
// so that no process can read it in /proc/PID/environ. It does not change the result of os.Getenv;
// os.Unsetenv does, but leaves the process's initial environment unchanged.
func WipeEnviron(name string) error {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) <= fieldEnvEnd {
		return fmt.Errorf("/proc/self/stat has only %d fields", len(fields))
	}
	start, err := strconv.ParseInt(fields[fieldEnvStart], 10, 64)
	end, err2 := strconv.ParseInt(fields[fieldEnvEnd], 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if start <= 0 || end <= start {
		return errors.New("/proc/self/stat does not tell where the environment is")
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	block := make([]byte, end-start)
	if _, err := memory.ReadAt(block, start); err != nil {
		return err
	}
	prefix := []byte(name + "=")
	for at := 0; at < len(block); {
		entry := block[at:]
		if n := bytes.IndexByte(entry, 0); n >= 0 {
			entry = entry[:n]
		}
		if bytes.HasPrefix(entry, prefix) {
			blank := bytes.Repeat([]byte("*"), len(entry)-len(prefix))
			if _, err := memory.WriteAt(blank, start+int64(at+len(prefix))); err != nil {
				return err
			}
		}
		at += len(entry) + 1
	}
	return nil
}
