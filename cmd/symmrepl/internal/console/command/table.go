package command

import (
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command/tour"
)

// All returns the commands of one console in the order of help. They share the open tutorial.
// export writes the programs of `:export`.
func All(export Programs) []console.Command {
	t := &tour.Tour{}
	return []console.Command{
		on(),
		timeCell(),
		compare(),
		why(),
		trace(),
		sanitize(),
		stop(),
		breakAt(),
		step(),
		continueOn(),
		slow(),
		history(),
		edit(),
		save(),
		load(),
		exportTo(export),
		vars(),
		diff(),
		typeOf(),
		documentation(),
		ranks(),
		caps(),
		topo(),
		network(),
		top(),
		restart(t),
		t.Tutorial(),
		t.Next(),
		t.Prev(),
		t.Again(),
		t.Check(),
		t.Hint(),
		t.Where(),
		cd(),
		go111module(),
		help(),
		quit(),
	}
}
