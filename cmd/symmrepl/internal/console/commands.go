package console

import (
	"context"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
)

// Command is a row of the table.
type Command struct {
	Name  string
	Args  string // as shown in help
	Group string
	Where string // where it runs
	Help  string // its first line is the summary

	run func(c *Console, ctx context.Context, arg string) Outcome
}

// Where a command runs.
const (
	here   = "here"         // in this process
	all    = "all ranks"    // on every rank
	target = "target ranks" // on the ranks of `:on`
	lead   = "the session"  // in the controller
)

// Commands returns every command, in the order in which help shows them.
func Commands() []Command {
	return []Command{
		{"on", "[RANKS [CODE]]", "cells", target, onHelp, (*Console).on},
		{"time", "CODE", "cells", target, timeHelp, (*Console).time},
		{"trace", "CODE", "cells", target, traceHelp, (*Console).trace},
		{"history", "[N]", "cells", lead, historyHelp, (*Console).history},
		{"save", "FILE", "cells", here, saveHelp, (*Console).save},
		{"load", "FILE", "cells", target, loadHelp, (*Console).load},
		{"export", "FILE", "cells", here, exportHelp, (*Console).export},
		{"vars", "", "looking around", target, varsHelp, (*Console).vars},
		{"type", "EXPRESSION", "looking around", target, typeHelp, (*Console).typeOf},
		{"doc", "NAME", "looking around", target, docHelp, (*Console).doc},
		{"ranks", "", "ranks and devices", lead, ranksHelp, (*Console).rankTable},
		{"caps", "", "ranks and devices", target, capsHelp, (*Console).caps},
		{"topo", "", "ranks and devices", target, topoHelp, (*Console).topo},
		{"top", "", "ranks and devices", target, topHelp, (*Console).top},
		{"restart", "[RANKS] [replay]", "ranks and devices", all, restartHelp, (*Console).restart},
		{"tutorial", "[NAME [STEP]]", "tutorials", all, tutorialHelp, (*Console).tutorial},
		{"next", "", "tutorials", all, nextHelp, (*Console).next},
		{"prev", "", "tutorials", here, prevHelp, (*Console).prev},
		{"again", "", "tutorials", all, againHelp, (*Console).again},
		{"check", "", "tutorials", all, checkHelp, (*Console).check},
		{"hint", "", "tutorials", here, hintHelp, (*Console).hint},
		{"where", "", "tutorials", here, whereHelp, (*Console).where},
		{"cd", "[FOLDER]", "this program", all, cdHelp, (*Console).cd},
		{"go111module", "on|off", "this program", here, go111moduleHelp, (*Console).go111module},
		{"help", "[COMMAND]", "this program", here, helpHelp, (*Console).help},
		{"quit", "", "this program", here, quitHelp, (*Console).quit},
	}
}

const (
	onHelp = `choose the ranks that cells run on
":on 0,2 CODE" runs one cell on ranks 0 and 2. ":on 0,2" or ":on 0-2" does so for every cell that follows, and for the
commands that look at ranks; ":on all" goes back to all ranks, ":on" shows the choice. A cell that begins with the line
"%%rank [0,2]" runs on those ranks too. A collective operation needs all ranks of its group: on fewer it fails at once.`
	timeHelp = `run a cell and show how long it took
The time is that of the slowest rank as the session sees it, from sending the cell to the last answer; device work
that the cell started is part of it.`
	historyHelp = `show the cells of this session
":history 10" shows the last ten. Cells that failed are shown too.`
	saveHelp = `write the session's cells to a file
"symmrepl run FILE" and ":load FILE" run them again. The file is Go: a line "// %%" begins a cell, "// %%rank [0,2]" one
for those ranks. Cells that failed become comments; commands are no cells. A file that is there already is overwritten
by ":save! FILE" only.`
	loadHelp   = `run the cells of a file, up to the first that fails`
	exportHelp = `write the session as a Go program
"go build" makes it a program that runs without symmrepl, one process for each rank, and prints on each what the session
printed there: start it by torchrun --no-python, mpirun or srun, or with RANK and WORLD_SIZE set. Each cell becomes a
function, the variables of its top level become the program's; cells that failed become comments. A file that is there
already is overwritten by ":export! FILE" only.`
	varsHelp = `show the variables of the session: name, type, size, value
A variable that is not the same on all ranks has a line for each of its values, with the ranks that hold it. The size is
an estimate of all that the variable leads to; that of a tensor is its data's, in the device's memory.`
	typeHelp = `show the type of an expression, without evaluating it
A type is shown with its methods, a package with its import path.`
	docHelp = `show the documentation of a package, of what it exports, or of what a cell defined
Names are such as symm, symm.Empty, strings.Builder.Len, math/rand/v2, x or x.Fill for a variable x, and :on for a command.
The packages need not be imported. What a cell defined is shown with the comment above it.`
	ranksHelp = `show the rank processes: host, process id, device, state, memory
The state is idle, running, waiting (then also for what), stopped, starting or dead. "Start" counts the workers this rank has
had: 1 for the first, one more each time it was replaced.`
	capsHelp    = `show what the device and the back end can do`
	topoHelp    = `show the links between the devices of the ranks, in a notebook as a picture`
	topHelp     = `show memory and utilisation of every rank's device`
	restartHelp = `replace worker processes by fresh ones
":restart" replaces all of them, ":restart 2" only rank 2. Their variables are lost, and so are their symmetric tensors
for everyone. With "replay" the session's cells are then run again on the fresh workers, in order.`
	tutorialHelp = `list the tutorials, or begin one
":tutorial 03" goes on where you left it, and runs the cells before that again, since a fresh session knows nothing of them;
":tutorial 03 1" begins at step 1.`
	nextHelp  = `show and run the next step of the tutorial`
	prevHelp  = `show the step before again; nothing is run`
	againHelp = `run the current step again, of an exercise what it begins with`
	checkHelp = `have your answer to the exercise checked
The check uses what you have defined in the session. It prints "correct", or says what is wrong.`
	hintHelp  = `show the next hint to the exercise, and after the last one a solution`
	whereHelp = `show which step of the tutorial this is, and which exercises are solved`
	cdHelp    = `change the folder of all ranks, of "$" lines and of files that commands name
":cd" goes to your home. The change is recorded as a cell, so that a replay makes it too. A fresh worker that runs no replay is
in the folder in which the session began; after ":restart" of all ranks, so are "$" lines and files.`
	go111moduleHelp = `do nothing, for notebooks of gophernotes
Its cells get modules from the network when this is on. Here they import the standard library and gonum, which are part of
this program.`
	helpHelp = `show the commands, or all about one of them`
	quitHelp = `leave; so does Ctrl-D at an empty prompt`
)

// lookup finds a command by its name or by an unambiguous beginning of it.
func lookup(name string) (Command, error) {
	var found []Command
	for _, cmd := range Commands() {
		if cmd.Name == name {
			return cmd, nil
		}
		if name != "" && strings.HasPrefix(cmd.Name, name) {
			found = append(found, cmd)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		var meant string
		if like := spelling.Similar(name, commandNames()); len(like) > 0 {
			meant = "did you mean :" + strings.Join(like, " or :") + "? "
		}
		return Command{}, fmt.Errorf("no command is called %q; %s:help lists them", name, meant)
	}
	names := make([]string, len(found))
	for i, cmd := range found {
		names[i] = ":" + cmd.Name
	}
	return Command{}, fmt.Errorf("%q may be any of %s", name, strings.Join(names, " "))
}

// command runs a command line, without its ':'.
func (c *Console) command(ctx context.Context, line string) Outcome {
	name, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	if head, code, cut := strings.Cut(name, "\n"); cut {
		name, arg = head, code+" "+arg
	}
	arg = strings.TrimSpace(arg)
	if bare, insists := strings.CutSuffix(name, "!"); insists { // ":save! f.go" is ":save !f.go"
		name, arg = bare, "!"+arg
	}
	cmd, err := lookup(name)
	if err != nil {
		c.Printer.Fail("%v", err)
		return Failed
	}
	if arg == "" && cmd.Args != "" && !strings.HasPrefix(cmd.Args, "[") {
		c.Printer.Fail(":%s needs %s; :help %s says more", cmd.Name, cmd.Args, cmd.Name)
		return Failed
	}
	if arg != "" && cmd.Args == "" {
		c.Printer.Fail(":%s takes nothing, but was given %q", cmd.Name, arg)
		return Failed
	}
	return cmd.run(c, ctx, arg)
}

// fail prints a command's error.
func (c *Console) fail(name string, err error) Outcome {
	c.Printer.Fail(":%s: %v", name, err)
	return Failed
}
