// Package procfs reads Linux's information about processes in /proc.
package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Stat is part of a process's or a thread's stat file.
type Stat struct {
	State   string             // a letter: "R", "S", "Z", "T" for stopped
	Exiting bool               // the kernel is ending the process, or will as soon as the process gets a processor
	Left    bool               // it runs no code and no system call any more
	Known   bool               // Status is valid
	Status  syscall.WaitStatus // its exit status, if Known, which may be some time after it begins to exit
	RSS     int64              // bytes resident
	Parent  int                // the number of its parent
	Started string             // start time in the kernel's ticks: distinguishes processes that had the same number
}

// Of returns the Stat of a process.
func Of(pid int) (Stat, error) { return Read(fmt.Sprintf("/proc/%d/stat", pid)) }

// Read returns the Stat in a file such as /proc/PID/stat or /proc/PID/task/TID/stat.
func Read(name string) (Stat, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return Stat{}, err
	}
	return parse(string(data))
}

// Fields of a stat file, counted from the state.
const (
	fieldState    = 0
	fieldParent   = 1
	fieldFlags    = 6
	fieldStarted  = 19
	fieldPages    = 21
	fieldPending  = 28
	fieldExitCode = 49
)

// flagExiting is PF_EXITING.
const flagExiting = 0x4

// pendingKill is SIGKILL among the pending signals of a thread. Either the process was sent
// SIGKILL, or another thread has called exit: the kernel ends the other threads of a process in
// this way. On a loaded machine it may take seconds until they end.
const pendingKill = 1 << (syscall.SIGKILL - 1)

func parse(line string) (Stat, error) {
	// The state follows the name, which is in parentheses and may hold anything.
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= fieldExitCode {
		return Stat{}, fmt.Errorf("/proc/PID/stat has only %d fields", len(fields))
	}
	var numbers [5]int64
	for i, field := range []int{fieldParent, fieldFlags, fieldPages, fieldPending, fieldExitCode} {
		n, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			return Stat{}, fmt.Errorf("/proc/PID/stat: %w", err)
		}
		numbers[i] = n
	}
	parent, flags, pages, pending, code := int(numbers[0]), numbers[1], numbers[2], numbers[3], uint32(numbers[4])
	zombie := fields[fieldState] == "Z"
	exiting := flags&flagExiting != 0 || zombie
	// the status of a stopped process is the signal that has stopped it
	stopped := !exiting && strings.EqualFold(fields[fieldState], "T")
	ending := exiting || pending&pendingKill != 0
	return Stat{
		State:   fields[fieldState],
		Exiting: ending,
		Left:    exiting,
		// A status of 0 is valid only after the process has released its memory. Before that, the
		// kernel may not have set it yet.
		Known:   ending && !stopped && (code != 0 || zombie || exiting && pages == 0),
		Status:  syscall.WaitStatus(code),
		RSS:     pages * int64(os.Getpagesize()),
		Parent:  parent,
		Started: fields[fieldStarted],
	}, nil
}
