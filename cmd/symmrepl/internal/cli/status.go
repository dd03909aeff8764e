package cli

import "fmt"

// Exit statuses.
const (
	statusOK      = 0
	statusFailed  = 1 // a cell failed
	statusUsage   = 2 // the command line is wrong
	statusStart   = 3 // the session could not start, or the request could not be carried out
	statusSignals = 128
)

// usageError reports a wrong command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func misused(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }
