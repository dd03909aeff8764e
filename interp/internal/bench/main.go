package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	rounds := flag.Int("rounds", 15, "how often each program runs; the shortest time counts")
	cells := flag.Int("cells", 10000, "cells of a session")
	flag.Parse()
	for _, table := range []func() error{
		func() error { return speed(*rounds) },
		func() error { return large(*rounds) },
		func() error { return growth(*cells) },
	} {
		if err := table(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		fmt.Println()
	}
}
