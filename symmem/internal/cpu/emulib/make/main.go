// Make builds the library of the emulator for a wheel, by zig, and prints its path. ARCH is the machine
// by Go's name, amd64 or arm64. It runs in the root of the module.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emulib"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("emulib/make: ")
	if len(os.Args) != 4 || os.Args[2] != "amd64" && os.Args[2] != "arm64" {
		log.Fatal("usage: make ZIG amd64|arm64 FOLDER")
	}
	files, err := emulib.Sources(os.DirFS("."))
	if err != nil {
		log.Fatal(err)
	}
	path, err := emulib.Prebuild(os.Args[1], os.Args[2], os.Args[3], files)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(path)
}
