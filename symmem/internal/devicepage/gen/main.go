//go:build linux && (amd64 || arm64)

// Gen writes the data of package reference to a file, and the page to another.
package main

import (
	"log"
	"os"

	"github.com/symmrepl/symmrepl/symmem/internal/devicepage"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: gen DATA PAGE")
	}
	all := devicepage.Collect()
	packed, err := devicepage.Pack(all)
	if err == nil {
		err = os.WriteFile(os.Args[1], packed, 0o644)
	}
	if err == nil {
		err = os.WriteFile(os.Args[2], []byte(devicepage.Page(all)), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}
