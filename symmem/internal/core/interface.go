package symmem

import (
	"net"
	"net/netip"
	"os"

	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
)

// rankZero is the host of rank 0 as the launcher names it in the environment; empty if it does not.
func rankZero(environ []string) string {
	l, _, _ := launcher.FromEnviron(launcher.ByHand(environ))
	return l.Address
}

// interfaceTo names the network interface by which this host reaches another one, at which UCX is to listen. It is empty if that is not known, or if
// UCX_NET_DEVICES says which to use: UCX takes those that it finds then.
func interfaceTo(host string) string {
	if host == "" || os.Getenv("UCX_NET_DEVICES") != "" {
		return ""
	}
	conn, err := net.Dial("udp", net.JoinHostPort(host, "9")) // which sends nothing
	if err != nil {
		return ""
	}
	defer conn.Close()
	return interfaceWith(host, conn.LocalAddr().(*net.UDPAddr).IP)
}

// interfaceWith names the interface that has an address of this host, by which it reaches another one. Many systems give their own name an address of the
// loopback interface, by which nobody else reaches them: that counts only if host says that all are here.
func interfaceWith(host string, own net.IP) string {
	if at, err := netip.ParseAddr(host); own.IsLoopback() && host != "localhost" && (err != nil || !at.IsLoopback()) {
		return ""
	}
	all, _ := net.Interfaces()
	for _, i := range all {
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(own) {
				return i.Name
			}
		}
	}
	return ""
}
