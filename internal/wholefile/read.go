package wholefile

import (
	"fmt"
	"io"
	"os"
)

// TooLongError reports a file that is longer than what it is read for may be.
type TooLongError struct {
	Name  string
	What  string // what the file was read for: "a script"
	Limit int    // in bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s has more than %d MiB, which is the limit for %s", e.Name, e.Limit>>20, e.What)
}

// Read returns the contents of the file of a name. It does not read more than limit bytes of what has
// no end, such as /dev/zero; the error is a *TooLongError then.
func Read(name, what string, limit int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, what, limit)
}

// ReadAll is Read for a file that is open.
func ReadAll(f io.Reader, name, what string, limit int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(text) > limit {
		return nil, &TooLongError{name, what, limit}
	}
	return text, nil
}
