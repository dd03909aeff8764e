package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"time"
)

func main() {
	var (
		symmrepl = flag.String("program", "bin/symmrepl", "the program")
		goDir    = flag.String("go", "", "Go's test directory")
		yaegiDir = flag.String("yaegi", "", "yaegi's _test directory")
		kept     = flag.String("kept", "build/foreign", "a folder for what the toolchain prints")
		only     = flag.String("only", "", "run the programs whose names match this expression")
		list     = flag.Bool("list", false, "list the programs that are not the same")
		limit    = flag.Duration("limit", 2*time.Minute, "how long a program may take")
	)
	flag.Parse()
	if err := run(*symmrepl, *goDir, *yaegiDir, *kept, *only, *limit, *list); err != nil {
		fmt.Fprintln(os.Stderr, "foreign:", err)
		os.Exit(1)
	}
}

func run(symmrepl, goDir, yaegiDir, kept, only string, limit time.Duration, list bool) error {
	symmrepl, err := filepath.Abs(symmrepl)
	if err != nil {
		return err
	}
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var programs []program
	for dir, read := range map[string]func(string) ([]program, error){goDir: goPrograms, yaegiDir: yaegiPrograms} {
		if dir == "" {
			continue
		}
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		found, err := read(dir)
		if err != nil {
			return err
		}
		for _, p := range found {
			if match.MatchString(p.suite + "/" + p.name) {
				programs = append(programs, p)
			}
		}
	}
	results := judgeAll(&runner{symmrepl, kept, limit}, programs)
	if list {
		printList(results)
	}
	printTable(results)
	return nil
}

// judgeAll judges programs in parallel, one per processor.
func judgeAll(r *runner, programs []program) []result {
	results := make([]result, len(programs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for i := range next {
				results[i] = r.judge(programs[i])
			}
		})
	}
	for i := range programs {
		next <- i
	}
	close(next)
	wg.Wait()
	return results
}

// printList prints the programs that are not the same.
func printList(results []result) {
	for _, v := range []verdict{different, crashed, refused} {
		for _, r := range results {
			if r.verdict == v {
				fmt.Printf("%-9v %s/%s: %s\n", v, r.suite, r.name, r.why)
			}
		}
	}
}

// printTable prints a table of the number of programs by suite and verdict.
func printTable(results []result) {
	counts := map[string]*[skipped + 1]int{"go": {}, "yaegi": {}, "both": {}}
	for _, r := range results {
		counts[r.suite][r.verdict]++
		counts["both"][r.verdict]++
	}
	fmt.Printf("%-6s %8s %6s %8s %10s %8s %8s\n", "suite", "programs", "same", "refused", "different", "crashed", "skipped")
	for _, suite := range []string{"go", "yaegi", "both"} {
		n := counts[suite]
		all := n[same] + n[refused] + n[different] + n[crashed]
		fmt.Printf("%-6s %8d %6d %8d %10d %8d %8d\n", suite, all, n[same], n[refused], n[different], n[crashed], n[skipped])
		if all > 0 {
			share := func(v verdict) float64 { return 100 * float64(n[v]) / float64(all) }
			fmt.Printf("%-6s %8s %5.1f%% %7.1f%% %9.1f%% %7.1f%%\n", "", "", share(same), share(refused), share(different), share(crashed))
		}
	}
}
