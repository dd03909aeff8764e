package command

import "testing"

// Every row describes its command, and no two rows have the same name.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, cmd := range All(Programs{}) {
		if cmd.Name == "" || cmd.Group == "" || cmd.Where == "" || cmd.Help == "" || cmd.Run == nil || seen[cmd.Name] {
			t.Errorf("row %+v", cmd)
		}
		seen[cmd.Name] = true
		if (cmd.TakesCode || cmd.Complete != nil) && cmd.Args == "" {
			t.Errorf(":%s completes an argument but takes none", cmd.Name)
		}
	}
}

// When commands are added, the abbreviations that users type keep their meaning.
func TestBeginnings(t *testing.T) {
	c, _, _ := newConsole()
	for name, want := range map[string]string{
		"n": "next", "p": "prev", "q": "quit", "s": "save", "l": "load", "v": "vars", "d": "doc", "a": "again",
		"w": "where", "sl": "slow", "sa": "save", "ti": "time", "tr": "trace", "ty": "type", "ra": "ranks", "ca": "caps",
		"his": "history", "e": "export", "ed": "edit", "cd": "cd",
	} {
		if cmd, err := c.Find(name); err != nil || cmd.Name != want {
			t.Errorf(":%s is %q (%v), want :%s", name, cmd.Name, err, want)
		}
	}
	const want = `"c" may be any of :compare :continue :caps :check :cd`
	if _, err := c.Find("c"); err == nil || err.Error() != want {
		t.Errorf(":c is refused with %v, want %s", err, want)
	}
	for _, cmd := range c.Commands {
		short := c.Shortest(cmd)
		if found, err := c.Find(short); err != nil || found.Name != cmd.Name {
			t.Errorf("the shortest form :%s of :%s is %q (%v)", short, cmd.Name, found.Name, err)
		}
	}
}
