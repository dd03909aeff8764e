package heartbeat

import (
	"fmt"
	"time"
)

// Variable is an environment variable with the limit of silence of a host, in the form that Parse
// reads. Rank 0's value counts.
const Variable = "SYMMREPL_HEARTBEAT"

// Default is the default limit of silence of a host.
const Default = 10 * time.Second

const (
	least    = 100 * time.Millisecond // the smallest limit
	perLimit = 10                     // minimum number of beats within a limit
	apart    = time.Second            // maximum time between two beats
	looks    = 4                      // checks in the time between two beats
)

// Parse reads a limit of silence, such as "10s". The empty text means Default. For "off" the result
// is 0: silence then never counts as a loss.
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
