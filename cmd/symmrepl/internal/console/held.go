package console

import (
	"context"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// heldWithin bounds the time for which leaving waits for the ranks to report their tensors.
const heldWithin = time.Second

// Held describes the objects that end with the session; "" if nothing does or no rank answers.
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
