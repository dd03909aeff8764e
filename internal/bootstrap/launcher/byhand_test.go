package launcher

import (
	"os"
	"strings"
	"testing"
)

func TestByHandHere(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	here := Launcher{Name: "torchrun", Rank: 1, Size: 2, LocalRank: 1, LocalSize: 2, Port: 29500}
	for _, address := range []string{"", "127.0.0.1", "localhost", name} {
		environ, err := ByHandHere([]string{"RANK=1", "WORLD_SIZE=2", "MASTER_PORT=29500", "MASTER_ADDR=" + address})
		got, ok, wrong := FromEnviron(environ)
		want := here
		want.Address = address
		if err != nil || !ok || wrong != nil || got != want || !got.OneHost() {
			t.Errorf("%s: %+v, %v, %v", address, got, err, wrong)
		}
	}
	for environ, want := range map[string]string{
		"RANK=1 WORLD_SIZE=2": "RANK=1 and WORLD_SIZE=2 set without MASTER_PORT",
		"RANK=1 WORLD_SIZE=2 MASTER_PORT=1 MASTER_ADDR=192.0.2.1": "MASTER_ADDR=192.0.2.1 is another host",
	} {
		if _, err := ByHandHere(strings.Fields(environ)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", environ, err)
		}
	}
	for _, environ := range []string{"", "RANK=1", "RANK=1 WORLD_SIZE=2 LOCAL_RANK=0",
		"RANK=1 WORLD_SIZE=2 TORCHELASTIC_RUN_ID=none", "OMPI_COMM_WORLD_RANK=1"} {
		if got, err := ByHandHere(strings.Fields(environ)); err != nil || strings.Join(got, " ") != environ {
			t.Errorf("%s: %v, %v", environ, got, err)
		}
	}
}
