package ras

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// serve answers the commands of one client, each by its line, and the last one, a status, by data
// and the end of the connection. It returns the address.
func serve(t *testing.T, answers map[string]string, data []byte) (address string, asked *[]string) {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = new([]string)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for in := bufio.NewScanner(c); in.Scan(); {
			*asked = append(*asked, in.Text())
			if in.Text() == "VERBOSE STATUS" {
				c.Write(data)
				return
			}
			word, _, _ := strings.Cut(in.Text(), " ")
			if answer := answers[word]; answer != "" {
				fmt.Fprintln(c, answer)
			}
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), asked
}

var polite = map[string]string{"CLIENT": "SERVER PROTOCOL 2", "TIMEOUT": "OK", "SET": "OK"}

func ask(t *testing.T, address string, limit time.Duration) (*Status, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return Ask(ctx, address)
}

func TestAsk(t *testing.T) {
	address, asked := serve(t, polite, recorded(t, "behind.json"))
	s, err := ask(t, address, 5*time.Second)
	if err != nil || s.Version != "2.29.7" || len(s.Communicators) != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if want := []string{"CLIENT PROTOCOL 2", "TIMEOUT 2", "SET FORMAT json", "VERBOSE STATUS"}; !reflect.DeepEqual(*asked, want) {
		t.Errorf("asked %q", *asked)
	}
	want := []string{
		"NCCL's communicator 0xae94423cfbb2ef4a of rank 0-3: rank 2 is behind by 1 AllReduce: it has begun 4, rank 0-1,3 5",
		"NCCL's communicator 0x71c0 of rank 1, member 1 (pid 77 on 10.0.0.9): all have begun the same collectives: 2 AllGather, 1 Broadcast",
	}
	if got := s.Explain(map[int]int{4000: 0, 4001: 1, 4002: 2, 4003: 3}); !reflect.DeepEqual(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if got := s.Explain(map[int]int{1: 0}); got != nil {
		t.Errorf("another job's communicators are explained: %q", got)
	}
}

func TestMissing(t *testing.T) {
	s, err := Parse(recorded(t, "missing.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"NCCL's communicator 0x1 of rank 0-5: rank 4 does not answer",
		"NCCL's communicator 0x1 of rank 0-5: rank 5 has left it, or has not come to it yet",
		"NCCL's communicator 0x1 of rank 0-5: rank 3 is dead, as NCCL believes",
		"NCCL's communicator 0x1 of rank 0-5: rank 1 has aborted it",
		"NCCL's communicator 0x1 of rank 0-5: rank 2 reports: another process failed, or the network",
	}
	if got := s.Explain(map[int]int{10: 0, 11: 1, 12: 2, 13: 3, 14: 4, 15: 5}); !reflect.DeepEqual(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

func TestRefusals(t *testing.T) {
	old := map[string]string{"CLIENT": "SERVER PROTOCOL 2", "TIMEOUT": "OK", "SET": "ERROR: Unknown command SET FORMAT json"}
	address, _ := serve(t, old, nil)
	if _, err := ask(t, address, 5*time.Second); !errors.Is(err, ErrNoJSON) {
		t.Errorf("of an NCCL without JSON: %v", err)
	}
	for name, c := range map[string]struct {
		answers map[string]string
		data    string
		want    string
	}{
		"another server": {map[string]string{"CLIENT": "HTTP/1.1 400 Bad Request"}, "",
			`the answer to "CLIENT PROTOCOL 2" is "HTTP/1.1 400 Bad Request", not "SERVER PROTOCOL"`},
		"no answer":       {map[string]string{"CLIENT": "SERVER PROTOCOL 2"}, "", `no answer to "TIMEOUT 1"`},
		"a cut answer":    {polite, `{"nccl_version": "2.29.7", "communicators": [`, "the answer cannot be read: unexpected end of JSON input"},
		"another version": {polite, `{}`, "names no version of NCCL"},
	} {
		address, _ := serve(t, c.answers, []byte(c.data))
		limit := 5 * time.Second
		if name == "no answer" {
			limit = 200 * time.Millisecond
		}
		if _, err := ask(t, address, limit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := ask(t, l.Addr().String(), 5*time.Second); err == nil {
		t.Error("nobody listens, and there is no error")
	}
	if _, err := Ask(context.Background(), l.Addr().String()); err == nil {
		t.Error("a question without a deadline is put")
	}
}

func TestAddress(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"localhost:28028": {}, "10.0.0.1:7": {addressVariable: "10.0.0.1:7"}, "": {enableVariable: "0", addressVariable: "x:1"},
	} {
		if got := Address(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v gives %q", env, got)
		}
	}
}

// Whatever answers on the port, there is a status or an error, and lines of bounded number.
func FuzzParse(f *testing.F) {
	f.Add(recorded(f, "behind.json"))
	f.Add(recorded(f, "missing.json"))
	f.Add([]byte(`{"nccl_version":"2","communicators":[{"ranks":[{"pid":1}]},{"missing_ranks":[{"pid":1}]},{"ranks":null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if (s == nil) == (err == nil) {
			t.Fatalf("%v and %v", s, err)
		}
		if s == nil {
			return
		}
		lines := s.Explain(map[int]int{1: 0, 4000: 0, 4001: 1})
		if len(lines) > 0 && !json.Valid(data) {
			t.Errorf("%q of what is no JSON", lines)
		}
		for _, l := range lines {
			if !strings.HasPrefix(l, "NCCL's communicator ") {
				t.Errorf("%q", l)
			}
		}
	})
}
