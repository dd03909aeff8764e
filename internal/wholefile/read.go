package wholefile

import (
	"fmt"
	"io"
	"os"
)

// TooLongError reports a file that is longer than its use allows.
type TooLongError struct {
	Name  string
	What  string // the use of the file: "a script"
	Limit int    // in bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s has more than %d MiB, which is the limit for %s", e.Name, e.Limit>>20, e.What)
}

// Read returns the contents of the file of a name. It does not read more than limit bytes of a file
// without end, such as /dev/zero; the error is a *TooLongError then.
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
