package launcher

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// ByHand returns environ, which is in os.Environ's form. If only RANK and WORLD_SIZE are set, as by
// a user who starts the processes by hand, it adds the variables that a launcher would set if all
// ranks were on one host.
func ByHand(environ []string) []string {
	if e := parse(environ); e.byHand() {
		return append(slices.Clip(environ), "LOCAL_RANK="+e["RANK"], "LOCAL_WORLD_SIZE="+e["WORLD_SIZE"])
	}
	return environ
}

// ByHandHere is ByHand for ranks that may be on several hosts, and each of which may be started in
// its own terminal. The variables must say that all ranks are on this host, and how they find each
// other. Otherwise the error names the missing variables.
func ByHandHere(environ []string) ([]string, error) {
	e := parse(environ)
	if !e.byHand() {
		return environ, nil
	}
	set := "RANK=" + e["RANK"] + " and WORLD_SIZE=" + e["WORLD_SIZE"] + " set without "
	if address := e["MASTER_ADDR"]; address != "" && !leadsHere(address) {
		return nil, fmt.Errorf("%sLOCAL_RANK, and MASTER_ADDR=%s is another host: set LOCAL_RANK and LOCAL_WORLD_SIZE, which are this process's number "+
			"among those of its host and how many these are; or, if all ranks run on this host, MASTER_ADDR=127.0.0.1", set, address)
	}
	if e["MASTER_PORT"] == "" && e["WORLD_SIZE"] != "1" {
		return nil, fmt.Errorf("%sMASTER_PORT, by which ranks that are started by hand find each other: set it to the same free port for all of them, such as 29500", set)
	}
	return ByHand(environ), nil
}

// byHand reports whether a user who starts a process for each rank has set the variables.
func (e environment) byHand() bool {
	return e["RANK"] != "" && e["WORLD_SIZE"] != "" && e["LOCAL_RANK"] == "" && e["TORCHELASTIC_RUN_ID"] == ""
}

// lookUpWithin bounds the time that the resolver takes to answer.
const lookUpWithin = 3 * time.Second

// leadsHere reports whether a host's name or address is this host's.
func leadsHere(host string) bool {
	if name, err := os.Hostname(); err == nil && strings.EqualFold(name, host) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookUpWithin)
	defer cancel()
	found, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return false
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(found, func(ip net.IP) bool {
		return ip.IsLoopback() || slices.ContainsFunc(own, func(a net.Addr) bool {
			n, ok := a.(*net.IPNet)
			return ok && n.IP.Equal(ip)
		})
	})
}
