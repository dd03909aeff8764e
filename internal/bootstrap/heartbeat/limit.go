package heartbeat

import (
	"fmt"
	"time"
)

// Variable is the environment variable of rank 0 that says how long a host may be silent, as Parse reads it.
const Variable = "SYMMREPL_HEARTBEAT"

// Default is how long a host may be silent where nothing else is said.
const Default = 10 * time.Second

const (
	least    = 100 * time.Millisecond // of a limit
	perLimit = 10                     // beats in a limit, at least
	apart    = time.Second            // at most, between two beats
	looks    = 4                      // for beats, in the time between two of them
)

// Parse reads how long a host may be silent, such as "10s". The empty text is Default. The result is 0 for "off": silence is no loss then.
func Parse(text string) (time.Duration, error) {
	switch text {
	case "":
		return Default, nil
	case "off":
		return 0, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit < least {
		return 0, fmt.Errorf("%s=%s: a time of at least %v is expected, such as 10s, or off", Variable, text, least)
	}
	return limit, nil
}
