package session

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// procInfo is what /proc says about a process.
type procInfo struct {
	state   string             // a letter; "T" for stopped
	exiting bool               // it is being taken down
	status  syscall.WaitStatus // that it will leave, when exiting
	rss     int64              // bytes resident
}

func procStat(pid int) (procInfo, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procInfo{}, err
	}
	return parseStat(string(data))
}

// Fields of /proc/PID/stat, counted from the state.
const (
	statState    = 0
	statFlags    = 6
	statPages    = 21
	statExitCode = 49
)

// statFields splits a line of /proc/PID/stat after the name, which is in parentheses and may hold anything.
func statFields(line string) []string {
	return strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
}

func parseStat(line string) (procInfo, error) {
	fields := statFields(line)
	if len(fields) <= statExitCode {
		return procInfo{}, fmt.Errorf("/proc/PID/stat has only %d fields", len(fields))
	}
	var flags, pages int64
	var code uint32
	_, err := fmt.Sscan(strings.Join([]string{fields[statFlags], fields[statPages], fields[statExitCode]}, " "), &flags, &pages, &code)
	if err != nil {
		return procInfo{}, fmt.Errorf("/proc/PID/stat: %w", err)
	}
	const exiting = 0x4 // PF_EXITING
	return procInfo{
		state:   fields[statState],
		exiting: flags&exiting != 0 || fields[statState] == "Z",
		status:  syscall.WaitStatus(code),
		rss:     pages * int64(os.Getpagesize()),
	}, nil
}
