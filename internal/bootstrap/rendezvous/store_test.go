package rendezvous

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous/storetest"
)

func TestStore(t *testing.T) {
	host, port := storetest.Start(t)
	address := net.JoinHostPort(host, strconv.Itoa(port))
	a, err := dialStore(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	got := make(chan string)
	go func() {
		b, err := dialStore(context.Background(), address)
		if err != nil {
			got <- err.Error()
			return
		}
		defer b.close()
		v, err := b.wait(context.Background(), "key")
		got <- fmt.Sprint(v, err)
	}()
	if err := a.set("key", "value of key"); err != nil {
		t.Fatal(err)
	}
	if v := receive(t, "the value", got); v != "value of key<nil>" {
		t.Error(v)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.wait(ctx, "other"); err != context.DeadlineExceeded {
		t.Error(err)
	}
	if _, err := readString(strings.NewReader("\xff\xff\xff\xff\xff\xff\xff\xff")); err == nil {
		t.Error("a value of 2^64-1 bytes")
	}
}

func FuzzStoreString(f *testing.F) {
	f.Add(appendString(nil, "value"))
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := readString(strings.NewReader(string(in)))
		if err == nil && string(appendString(nil, v)) != string(in[:8+len(v)]) {
			t.Fatalf("%q from %q", v, in)
		}
	})
}
