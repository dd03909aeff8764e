package networks

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
)

// rankZero is the host of rank 0 as the launcher names it in the environment; empty if it does not.
func rankZero(environ []string) string {
	l, _, _ := launcher.FromEnviron(launcher.ByHand(environ))
	return l.Address
}

// networkInterface names the network interface at which UCX listens: the one by which this host
// reaches the host of rank 0 or, if that is not known, other hosts. It is empty if UCX_NET_DEVICES
// says which to use. UCX must not listen at all interfaces: a stranger may be in one of those
// networks.
func networkInterface(host string) (string, error) {
	if os.Getenv("UCX_NET_DEVICES") != "" {
		return "", nil
	}
	if name := interfaceTo(host); name != "" {
		return name, nil
	}
	routes, _ := os.ReadFile("/proc/net/route")
	all, _ := net.Interfaces()
	var outward []string
	for _, i := range all {
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && i.Flags&net.FlagUp != 0 && n.IP.IsGlobalUnicast() {
				outward = append(outward, i.Name)
				break
			}
		}
	}
	return outwardInterface(outward, string(routes))
}

// outwardInterface picks the only one of the interfaces that others can reach, or the one of the
// default route, which /proc/net/route has.
func outwardInterface(names []string, routes string) (string, error) {
	if len(names) == 1 {
		return names[0], nil
	}
	for line := range strings.Lines(routes) {
		if f := strings.Fields(line); len(f) > 7 && f[1] == "00000000" && f[7] == "00000000" {
			return f[0], nil
		}
	}
	if len(names) == 0 {
		return "lo", nil
	}
	return "", errors.New("it is not known which of the interfaces " + strings.Join(names,
		", ") + " leads to the other hosts: name it in UCX_NET_DEVICES, or let MASTER_ADDR be an address of it")
}

// interfaceTo names the network interface by which this host reaches another one; empty if that is
// not known.
func interfaceTo(host string) string {
	if host == "" {
		return ""
	}
	conn, err := net.Dial("udp", net.JoinHostPort(host, "9")) // which sends nothing
	if err != nil {
		return ""
	}
	defer conn.Close()
	return interfaceWith(host, conn.LocalAddr().(*net.UDPAddr).IP)
}

// interfaceWith names the interface that has an address of this host, by which it reaches another
// one. Many systems give their own name an address of the loopback interface, by which nobody else
// reaches them: that counts only if host says that all are here.
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
