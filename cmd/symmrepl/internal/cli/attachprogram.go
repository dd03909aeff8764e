package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/lending"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/statedir"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
	"github.com/symmrepl/symmrepl/symmem"
)

// attachToProgram starts a session beside the program of symmrepl torchrun in a folder: as many ranks, on
// the cpu device, whose cells take the program's tensors.
func attachToProgram(ctx context.Context, dir string) (int, error) {
	client, err := lending.Dial(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	p, err := client.Program(ctx)
	if err != nil {
		return 0, err
	}
	if p.Ranks > symmem.MaxRanks {
		return 0, fmt.Errorf("%s has %d ranks, and at most %d of a host share memory", p.Name, p.Ranks, symmem.MaxRanks)
	}
	deadlock, err := session.ParseDeadlock(os.Getenv(session.DeadlockVariable))
	if err != nil {
		return 0, misused("%s=%s: %v", session.DeadlockVariable, os.Getenv(session.DeadlockVariable), err)
	}
	s, err := controller.Launch(ctx, session.Config{Ranks: p.Ranks, Device: "cpu", Lender: dir, Notice: notice, Prompt: term.Interactive(),
		Reports: statedir.Dir(), Deadlock: deadlock})
	if err != nil {
		return 0, err
	}
	o := &opened{Session: s, size: p.Ranks, emulated: true}
	defer o.Close()
	notice(fmt.Sprintf("attached to %s, which %s", p.Name, doing(p)))
	notice("symm.FromTorch(\"NAME\") is a tensor of it, `:vars` lists them, `:continue` lets it go on")
	go tell(client, p)
	return front(ctx, options{}, o)
}

// doing describes what a program does.
func doing(p *lending.Program) string {
	does := "does this"
	if p.Stands {
		does = "stands in symmrepl.torch.breakpoint()"
	}
	return does + ":\n" + strings.TrimRight(p.Text, "\n")
}

// tell tells the user when a program stands again, and when it has ended, until the client is closed.
func tell(client *lending.Client, p *lending.Program) {
	for {
		next, err := client.Stop(context.Background(), p.Stops)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			notice(p.Name + " has ended; what was taken from its memory stays")
			return
		}
		p = next
		notice(p.Name + " " + doing(p))
	}
}
