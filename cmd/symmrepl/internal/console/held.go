package console

import (
	"context"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// heldWithin bounds how long leaving waits for the ranks to report what they hold.
const heldWithin = time.Second

// Held describes what ends with the session; "" if nothing does or no rank answers.
func (c *Console) Held(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, heldWithin)
	defer cancel()
	answers, err := c.Session.Inspect(ctx, nil, session.Query{Topic: session.TopicHeld})
	if err != nil {
		return ""
	}
	for _, a := range answers {
		if a.Err == nil && a.Text != "" {
			return a.Text
		}
	}
	return ""
}
