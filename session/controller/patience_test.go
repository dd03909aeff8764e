package controller

import "time"

// patience bounds a test's wait for an event that comes within seconds on a quiet machine.
const patience = time.Minute
