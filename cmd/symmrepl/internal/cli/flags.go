package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// parse reads flags and arguments in any order. Everything after "--" is an argument, and everything
// after the program of torchrun.
func parse(args []string) (options, error) {
	o := options{device: "auto", schedules: 1, dtype: "bf16"}
	flags := flag.NewFlagSet("symmrepl", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, f := range o.flags() {
		f.add(flags)
	}
	if len(args) > 0 && args[0] == "check" {
		args = apart(args)
	}
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			err = tidy(err)
			if len(o.args) > 1 && o.args[0] == "run" {
				err = fmt.Errorf("%w; flags of the program stand after --: symmrepl run %s -- -flag", err, o.args[1])
			}
			return o, err
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
		if o.args[0] == "torchrun" {
			if len(o.args) > 1 { // the rest is the program's
				o.args = append(o.args, args...)
				break
			}
			flags.BoolVar(&o.module, "m", false, "") // of no other subcommand, where it is unknown
		}
	}
	flags.Visit(func(f *flag.Flag) { o.given = append(o.given, f.Name) })
	if o.schedules < 1 {
		return o, fmt.Errorf("--schedules %d: a number from 1 on is expected", o.schedules)
	}
	return o, o.checkNames()
}

// apart separates -I and -D from their values, as compilers do.
func apart(args []string) (list []string) {
	for i, arg := range args {
		if arg == "--" {
			return append(list, args[i:]...)
		}
		if len(arg) > 2 && (strings.HasPrefix(arg, "-I") || strings.HasPrefix(arg, "-D")) {
			list = append(list, arg[:2])
			arg = arg[2:]
		}
		list = append(list, arg)
	}
	return list
}

// misplaced returns an error if a flag was given that does not apply to the subcommand.
func (o options) misplaced() error {
	command := strings.Join(o.args, " ") + " "
	if o.worlds != nil && !strings.HasPrefix(command, "check ") {
		return misused("several numbers of ranks apply to check only")
	}
	switch {
	case o.hasCode:
		command = "-e "
	case len(o.args) == 0:
		command = "the prompt "
	}
	for _, f := range o.flags() {
		names := strings.Fields(f.names)
		i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(o.given, name) })
		if i < 0 || f.of == "" {
			continue
		}
		applies := slices.ContainsFunc(f.commands(), func(of string) bool { return strings.HasPrefix(command, of+" ") })
		switch name := dashed(names[i]); {
		case name == "--json" && !applies:
			if run := o.hasCode || strings.HasPrefix(command, "run ") || strings.HasPrefix(command, "torchrun "); !o.sanitize || !run {
				return misused("--json applies to bench and check, and with --sanitize to run, torchrun and -e")
			}
		case !applies:
			return misused("%s applies to %s only", name, f.of)
		case f.with != "" && !slices.Contains(o.given, f.with) && !strings.HasPrefix(command, "check "):
			return misused("%s goes with %s", name, dashed(f.with))
		}
	}
	return nil
}

// tidy rewrites errors of package flag in the words of the usage text.
func tidy(err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		return fmt.Errorf("there is no flag %s", dashed(name))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return fmt.Errorf("%s needs a value", dashed(name))
	}
	return err
}
