package cli

import (
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/shadow"
	"github.com/symmrepl/symmrepl/interp/replay"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
	"github.com/symmrepl/symmrepl/symmem/filediff"
)

// newShadow returns the second session on the cpu device for the comparisons of a session. Nothing
// is started before the first of them.
func (s *opened) newShadow() *shadow.Shadow {
	return shadow.New(s, shadow.Tools{
		Device: "cpu", Always: !s.emulated,
		Open: func(ctx context.Context, hosts [][]int) (session.Session, error) {
			parts, err := session.ParseHosts(spelled(hosts), s.size)
			if err != nil {
				return nil, err
			}
			return controller.Launch(ctx, session.Config{Ranks: s.size, Device: "cpu", Hosts: parts, Private: true})
		},
		Of:     func(history []session.Cell, code string) (shadow.Needs, error) { return replay.Of(history, code) },
		Differ: filediff.Compare,
	})
}

// spelled writes the ranks of hosts as --hosts takes them; "" for one host.
func spelled(hosts [][]int) string {
	if len(hosts) < 2 {
		return ""
	}
	var list []string
	for _, ranks := range hosts {
		list = append(list, session.FormatRanks(ranks))
	}
	return strings.Join(list, "/")
}
