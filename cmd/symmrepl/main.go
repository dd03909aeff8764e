// Symmrepl drives N GPUs from one prompt; symmrepl --help says how.
package main

import (
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
