package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session"
)

// sanitize switches watching the cells of a console on.
func (s *opened) sanitize(ctx context.Context, o options, c *console.Console, p console.Printer) error {
	if !s.emulated {
		if err := o.orderOnGPUs(); err != nil {
			return err
		}
	}
	if err := c.Sanitize(ctx, p, session.Sanitizing{On: true, Seed: o.seed}); err != nil {
		return err
	}
	c.NoteUnwatched(p)
	return nil
}

// orderOnGPUs refuses flags that choose an order, because GPUs choose their own.
func (o options) orderOnGPUs() error {
	for _, name := range []string{"schedules", "seed"} {
		if slices.Contains(o.given, name) {
			return fmt.Errorf("%s: GPUs run threads, blocks and ranks in an order of their own: add --device cpu, or leave %[1]s out", dashed(name))
		}
	}
	return nil
}

// onGPUs returns the remark about the faults that --sanitize does not find on GPUs, and the tools
// that find them.
func onGPUs(find func(string) (string, error)) string {
	text := "on GPUs the sanitizer finds accesses out of bounds of tensors and pads only; races, and orders that are too weak, are found with --device cpu, which runs the same kernels"
	if path, err := find("compute-sanitizer"); err == nil {
		text += ". Other accesses out of bounds on these GPUs, and races in shared memory, are found by " + path +
			" --target-processes all, and --tool racecheck, before symmrepl and its arguments without --sanitize"
	}
	return text
}

// summary counts the findings.
func summary(found, schedules int) string {
	orders := "one order"
	if schedules > 1 {
		orders = fmt.Sprintf("%d orders", schedules)
	}
	if found == 0 {
		return "the sanitizer has found nothing in " + orders
	}
	return fmt.Sprintf("the sanitizer has %s in %s", count.Of(found, "finding"), orders)
}
