package main

import (
	"fmt"

	rand "math/rand/v2" // another package of the name that main.go has
)

var total = shelves * 2

func init() { fmt.Println("init of more.go") }

func init() { fmt.Println("another init of more.go") }

func count() int { return 4 }

func random() bool { return rand.N(1) == 0 }
