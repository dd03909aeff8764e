package interp

import (
	"context"
	"fmt"
)

// Inspect answers a question without running user code.
func (in *Interp) Inspect(ctx context.Context, topic, arg string) (string, error) {
	if in.options.Inspect != nil {
		return in.options.Inspect(ctx, topic, arg)
	}
	return "", fmt.Errorf("there is no topic %q", topic)
}
