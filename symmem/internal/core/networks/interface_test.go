package networks

import (
	"net"
	"strings"
	"testing"
)

func TestInterfaceTo(t *testing.T) {
	t.Setenv("UCX_NET_DEVICES", "")
	want := map[string]string{"": "", "127.0.0.1": loopback(t), "127.0.1.1": loopback(t), "localhost": loopback(t), "no such host": ""}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if ip := a.(*net.IPNet).IP; !ip.IsLinkLocalUnicast() { // every host of an address that is its own
				want[ip.String()] = i.Name
			}
		}
	}
	for host, name := range want {
		if got := interfaceTo(host); got != name {
			t.Errorf("%q is reached by %q, want %q", host, got, name)
		}
	}
	// A name of this host that leads to its loopback interface says nothing of how others reach it.
	if got := interfaceWith("gpu03", net.IPv4(127, 0, 1, 1)); got != "" {
		t.Errorf("gpu03 is reached by %q", got)
	}
	if got, err := networkInterface("127.0.0.1"); got != loopback(t) || err != nil {
		t.Errorf("%q is taken for 127.0.0.1: %v", got, err)
	}
	t.Setenv("UCX_NET_DEVICES", "mlx5_0:1")
	if got, err := networkInterface("127.0.0.1"); got != "" || err != nil {
		t.Errorf("%q is taken, not that of UCX_NET_DEVICES: %v", got, err)
	}
}

// If no address decides which interface leads to the other ranks, it is the only interface, or the
// interface of the default route; never all.
func TestOutwardInterface(t *testing.T) {
	const head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	const network = "ib0\t0007D50A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
	const route = "eth1\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
	for _, c := range []struct {
		names        []string
		routes, want string
	}{
		{[]string{"eth0"}, head + network, "eth0"},
		{[]string{"eth0", "eth1", "ib0"}, head + network + route, "eth1"},
		{nil, head, "lo"},
		{[]string{"eth0", "ib0"}, head + network, ""},
		{[]string{"eth0", "ib0"}, "", ""},
	} {
		got, err := outwardInterface(c.names, c.routes)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("of %v %q is taken: %v", c.names, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "name it in UCX_NET_DEVICES") {
			t.Error(err)
		}
	}
}

// loopback is the name of the loopback interface.
func loopback(t *testing.T) string {
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback != 0 {
			return i.Name
		}
	}
	t.Skip("there is no loopback interface")
	return ""
}

func TestRankZero(t *testing.T) {
	for environ, want := range map[string]string{
		"": "",
		"RANK=1 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=gpu03 MASTER_PORT=29500":                 "gpu03",
		"RANK=1 WORLD_SIZE=2 MASTER_ADDR=::1":                                                                     "::1",
		"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0 MASTER_ADDR=a":                "a",
		"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_LOCALID=0 SLURM_STEP_NODELIST=n[3-4]": "n3",
	} {
		if got := rankZero(strings.Fields(environ)); got != want {
			t.Errorf("%s: %q, want %q", environ, got, want)
		}
	}
}
