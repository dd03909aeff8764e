package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// options holds the parsed command line.
type options struct {
	ranks    int    // 0: choose
	worlds   []int  // of check: several numbers of ranks
	device   string // "auto", "cpu" or "cuda"
	backend  string // "": choose
	hosts    string // simulated hosts; "": as SYMMREPL_HOSTS says
	network  string // "": as SYMMREPL_NET says
	deadlock string // "": as SYMMREPL_DEADLOCK says

	sanitize  bool
	schedules int   // orders in which cells run
	seed      int64 // of the first

	rdzv    string
	code    string // of -e
	hasCode bool
	help    bool
	version bool
	args    []string // arguments that are not flags
	given   []string // the flags that were given

	prompt bool // the user enters cells at a prompt, where notices appear

	// kind of the cells
	program     *session.Program // nil: the cells are no program
	programArgs []string         // os.Args of cells; nil: as in a session

	// run and -e
	timeout time.Duration // 0: none

	// trace
	traceFile string // the file to write; "": none

	// tutorial
	list bool // only list the tutorials

	// torchrun
	module     bool // the program is a module
	standalone bool // says nothing more

	// export
	out string // the file or folder to write
	cpp bool   // a program of C++

	// check
	junit, sarif string   // files to write; "": none
	only         string   // a part of the names of the cases to run
	sessions     int      // at a time; 0: choose
	folders      []string // of headers
	defines      []string // macros
	build        string   // the folder with compile_commands.json; "": none
	verbose      bool     // print a line for each case

	// completion
	words bool // print what may follow the arguments

	// bench
	sizes  []int // in bytes; empty: choose
	peers  bool
	dtype  string
	json   bool
	svg    string // a file
	report string // a file of figures

	// kernel install
	user   bool
	prefix string
	name   string

	// mcp and dap
	readOnly bool
	socket   string // a path; "": standard input and output
	listen   string // HOST:PORT, of dap

	// kernel and serve
	attach    bool   // to a running session,
	attachDir string // in this folder; "": the only one
}

// maxRanks bounds -n, so that no more processes start than can form a world.
const maxRanks = symmem.MaxWorld

// maxSize bounds --sizes.
const maxSize = 1 << 30

func (o *options) setRanks(s string) error {
	if strings.Contains(s, ",") {
		return o.setWorlds(s)
	}
	if _, err := fmt.Sscanf(s, "%d", &o.ranks); err != nil || fmt.Sprint(o.ranks) != s {
		return errors.New("a number is expected")
	}
	if o.ranks < 1 || o.ranks > maxRanks {
		return fmt.Errorf("a number from 1 to %d is expected", maxRanks)
	}
	return nil
}

// setWorlds takes several numbers of ranks.
func (o *options) setWorlds(s string) error {
	for _, n := range strings.Split(s, ",") {
		if err := o.setRanks(n); err != nil {
			return err
		}
		o.worlds = append(o.worlds, o.ranks)
	}
	return nil
}

// setNodes takes torchrun's number of hosts.
func (o *options) setNodes(s string) error {
	if s != "1" && s != "1:1" {
		return errors.New("the ranks share memory, so all are on one host: 1 is expected; on several hosts use PyTorch's torchrun, which nobody watches")
	}
	return nil
}

func (o *options) setCode(s string) error {
	o.code, o.hasCode = s, true
	return nil
}

func (o *options) setTimeout(s string) (err error) {
	if o.timeout, err = time.ParseDuration(s); err != nil || o.timeout <= 0 {
		err = errors.New("a time such as 90s or 5m is expected")
	}
	return err
}

func (o *options) setDeadlock(s string) (err error) {
	if o.deadlock, err = session.ParseDeadlock(s); s == "" {
		err = errors.New("end or wait is expected")
	}
	return err
}

func (o *options) setSizes(s string) error {
	for _, field := range strings.Split(s, ",") {
		n, err := parseSize(field)
		if err != nil {
			return err
		}
		o.sizes = append(o.sizes, n)
	}
	return nil
}

func (o *options) addFolder(s string) error {
	o.folders = append(o.folders, s)
	return nil
}

func (o *options) addDefine(s string) error {
	o.defines = append(o.defines, s)
	return nil
}

func (o *options) setAttach(s string) error {
	o.attach = true
	if s != "true" { // there is no value
		o.attachDir = s
	}
	return nil
}

// checkNames refuses a device, a network and a back end that do not exist.
func (o options) checkNames() error {
	if names := deviceNames(); !slices.Contains(names, o.device) {
		return fmt.Errorf("unknown device %q: use one of %s", o.device, strings.Join(names, ", "))
	}
	if o.network != "" && o.network != "ucx" && o.network != "null" && o.network != "none" {
		return fmt.Errorf("unknown network %q: use ucx, null or none", o.network)
	}
	if names := backendNames(); o.backend != "" && !slices.Contains(names, o.backend) {
		return fmt.Errorf("unknown back end %q: use one of %s", o.backend, strings.Join(names, ", "))
	}
	return nil
}

// deviceNames are the values of --device.
func deviceNames() []string {
	names := []string{"auto"}
	for _, k := range symmem.DeviceKinds() {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}

// backendNames are the values of --backend.
func backendNames() (names []string) {
	for _, k := range symmem.DeviceKinds() {
		names = append(names, k.Names...)
	}
	return names
}

// parseSize reads bytes such as 4096, 64K or 256M.
func parseSize(s string) (int, error) {
	number, shift := s, 0
	for unit, bits := range map[string]int{"K": 10, "M": 20, "G": 30} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			number, shift = rest, bits
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > maxSize>>shift {
		return 0, fmt.Errorf("numbers of bytes up to %d, such as 4096, 64K or 1M, are expected, with commas between", maxSize)
	}
	return n << shift, nil
}

// dashed writes a flag as the usage text does.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
