// Package main prints the tests that runs of go test -json have skipped:
//
//	skips FILE...         prints the reasons, each with its number of tests and their names
//	skips -root FILE...   prints package and name of the tests that need root, a test on each line
//
// A test whose cases are skipped counts once for each case, and has one name. FILE is a file of
// gotestsum --jsonfile; a file without a test is no error.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// needsRoot begins the reasons of the package internal/needs for tests that need root.
const needsRoot = "needs root: "

func main() {
	root := flag.Bool("root", false, "print the tests that need root")
	flag.Parse()
	skips, err := read(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(2)
	}
	if *root {
		printRoot(skips)
	} else {
		printReasons(skips)
	}
}

// test names a test, or a case of it, in a package.
type test struct{ Package, Test string }

// top returns the name of the test without the name of its case.
func (t test) top() string {
	name, _, _ := strings.Cut(t.Test, "/")
	return name
}

// skip is a test that was skipped, with the reason.
type skip struct {
	test
	reason string
}

// read returns the tests that were skipped in the runs of files, each once, in their order.
func read(files []string) (skips []skip, err error) {
	add := func(s skip) {
		if !slices.ContainsFunc(skips, func(o skip) bool { return o.test == s.test }) {
			skips = append(skips, s)
		}
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		outputs := map[test]string{}
		lines := bufio.NewReader(f)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var event struct {
				test
				Action, Output string
			}
			if err := json.Unmarshal(line, &event); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			switch {
			case event.Test == "":
			case event.Action == "output":
				outputs[event.test] += event.Output
				if m := python.FindStringSubmatch(event.Output); m != nil {
					add(skip{test{event.Package, event.Test + "/" + m[1]}, m[2]})
				}
			case event.Action == "skip":
				add(skip{event.test, reason(outputs[event.test])})
			}
		}
	}
	return skips, nil
}

// python matches the line that a test has logged of a test in Python, which unittest has skipped.
var python = regexp.MustCompile(`\.go:\d+: (.*) \.\.\. skipped ['"](.*)['"]\n`)

// place matches the beginning of a line that a test has logged.
var place = regexp.MustCompile(`(?m)^ +[\w.-]+\.go:\d+: `)

// reason returns the text that a test's output ends with, which is the argument of its Skip, in one line.
func reason(output string) string {
	text, _, _ := strings.Cut(output, "--- SKIP")
	if places := place.FindAllStringIndex(text, -1); places != nil {
		text = text[places[len(places)-1][1]:]
	}
	return strings.Join(strings.Fields(text), " ")
}

// printReasons prints a line for each reason, if there is one.
func printReasons(skips []skip) {
	if len(skips) == 0 {
		return
	}
	type group struct {
		reason string
		count  int
		names  []string
	}
	var groups []*group
	for _, s := range skips {
		at := slices.IndexFunc(groups, func(g *group) bool { return g.reason == s.reason })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &group{reason: s.reason})
		}
		g := groups[at]
		g.count++
		if name := path.Base(s.Package) + "." + s.top(); !slices.Contains(g.names, name) {
			g.names = append(g.names, name)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return strings.Compare(a.reason, b.reason) })
	fmt.Println("Skipped tests, by reason:")
	for _, g := range groups {
		fmt.Printf("%5d  %s: %s\n", g.count, g.reason, strings.Join(g.names, ", "))
	}
}

// printRoot prints the tests that need root.
func printRoot(skips []skip) {
	var lines []string
	for _, s := range skips {
		if strings.HasPrefix(s.reason, needsRoot) {
			lines = append(lines, s.Package+"\t"+s.top())
		}
	}
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		fmt.Println(line)
	}
}
