package networks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// Carrier names the network that would carry traffic between real hosts here: "UCX 1.22.0", or
// "nothing" with the reason.
func Carrier() string {
	l, err := net.Available()
	if err != nil {
		return "nothing (" + err.Error() + ")"
	}
	return "UCX " + l.Version
}

// String is "the null network, delay 200µs, reorder on".
func (n *Network) String() string { return n.Name + describe(n.Settings) }

// tellsWithin limits how long TrafficWith waits for the counts of peers. They answer at once, unless the
// network delays or drops messages.
const tellsWithin = 20 * time.Millisecond

// mostTraffic is the maximum number of peers that TrafficWith describes.
const mostTraffic = 4

// TrafficWith describes the traffic with peers on other hosts: " (network to rank 2: ...; network to
// rank 3: ...)". It is empty if all are gone.
func (n *Network) TrafficWith(peers []int) string {
	var list []string
	ctx, cancel := context.WithTimeout(context.Background(), tellsWithin)
	defer cancel()
	for i, r := range peers {
		if len(list) == mostTraffic {
			list = append(list, "and "+count.Of(len(peers)-i, "more rank"))
			break
		}
		if t := n.traffic(ctx, r); t != "" {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, "; ") + ")"
}

// traffic describes the messages to and from a peer on another host, as the engine counts them and
// as the peer does, which it asks first. It is empty if the peer is gone.
func (n *Network) traffic(ctx context.Context, rank int) string {
	n.Engine.Ask(ctx, rank) // without an answer there is an earlier one, or none
	p := n.Engine.Peer(rank)
	if p.State != net.Connected {
		return ""
	}
	text := fmt.Sprintf("network to rank %d: %d posted, %d sent; from it: ", rank, p.Posted, p.Sent)
	if p.Told == 0 || p.ItsMessages < p.Landed { // its answer is older
		return text + fmt.Sprintf("%d landed", p.Landed)
	}
	text += fmt.Sprintf("%d posted, %d sent, %d of %d messages landed", p.ItsPosted, p.ItsSent, p.Landed, p.ItsMessages)
	if p.Landed < p.ItsMessages {
		text += fmt.Sprintf(", not message %d", p.Missing)
	}
	return text
}
