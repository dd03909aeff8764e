package session

import "time"

// patience is how long a test waits for what happens within seconds on a quiet machine.
const patience = time.Minute
