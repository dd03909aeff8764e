package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// options is what the command line says.
type options struct {
	ranks   int    // 0: choose
	device  string // "auto", "cpu" or "cuda"
	backend string // "": choose
	rdzv    string
	sizes   []int  // of bench, in bytes; empty: choose
	peers   bool   // of bench
	code    string // of -e
	hasCode bool
	help    bool
	args    []string // what is not a flag
}

// maxRanks bounds -n: a slip of the finger must not start thousands of processes.
const maxRanks = 1024

// maxSize bounds --sizes.
const maxSize = 1 << 30

// parse reads flags and arguments in any order. Everything after "--" is an argument.
func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("symmrepl", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	ranks := func(s string) error {
		if _, err := fmt.Sscanf(s, "%d", &o.ranks); err != nil || fmt.Sprint(o.ranks) != s {
			return errors.New("a number is expected")
		}
		if o.ranks < 1 || o.ranks > maxRanks {
			return fmt.Errorf("a number from 1 to %d is expected", maxRanks)
		}
		return nil
	}
	code := func(s string) error {
		o.code, o.hasCode = s, true
		return nil
	}
	sizes := func(s string) error {
		for _, field := range strings.Split(s, ",") {
			n, err := strconv.Atoi(field)
			if err != nil || n < 2 || n%2 != 0 || n > maxSize {
				return fmt.Errorf("even numbers of bytes up to %d are expected, with commas between", maxSize)
			}
			o.sizes = append(o.sizes, n)
		}
		return nil
	}
	flags.Func("n", "", ranks)
	flags.Func("ranks", "", ranks)
	flags.Func("e", "", code)
	flags.Func("eval", "", code)
	flags.StringVar(&o.device, "device", "auto", "")
	flags.StringVar(&o.backend, "backend", "", "")
	flags.StringVar(&o.rdzv, "rdzv", "", "")
	flags.Func("sizes", "", sizes)
	flags.BoolVar(&o.peers, "peers", false, "")
	flags.BoolVar(&o.help, "h", false, "")
	flags.BoolVar(&o.help, "help", false, "")

	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return o, tidy(err)
		}
		rest := flags.Args()
		if terminator := len(args) - len(rest) - 1; terminator >= 0 && args[terminator] == "--" {
			o.args = append(o.args, rest...)
			break
		}
		if len(rest) == 0 {
			break
		}
		o.args, args = append(o.args, rest[0]), rest[1:]
	}
	if kinds := []string{"auto", "cpu", "cuda"}; !slices.Contains(kinds, o.device) {
		return o, fmt.Errorf("--device %s: %s are the devices there are", o.device, strings.Join(kinds, ", "))
	}
	return o, nil
}

// tidy puts the flag package's errors into the words of the usage text.
func tidy(err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		return fmt.Errorf("there is no flag %s", name)
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		return fmt.Errorf("%s needs a value", name)
	}
	return err
}
