package lending

import (
	"fmt"
	"os"
	"syscall"
)

// The values of Request.What.
const (
	AskProgram   = "program"   // Reply.Program
	AskTensor    = "tensor"    // Reply.Tensor: the one called Name on Rank
	AskVariables = "variables" // Reply.Variables: the tensors that Rank has at its line
	AskContinue  = "continue"  // Reply.Program, after all ranks have left the breakpoint
	AskStop      = "stop"      // Reply.Program, once the program has stood at more breakpoints than Stops
)

// Request is a request to a program.
type Request struct {
	ID   uint64 `json:"id"`
	What string `json:"what"`
	Rank int    `json:"rank,omitempty"`
	Name string `json:"name,omitempty"`

	Stops uint64 `json:"stops,omitempty"`
}

// Reply answers the request with its ID.
type Reply struct {
	ID        uint64     `json:"id"`
	Err       string     `json:"err,omitempty"`
	Program   *Program   `json:"program,omitempty"`
	Tensor    *Tensor    `json:"tensor,omitempty"`
	Variables []Variable `json:"variables,omitempty"`
}

// Program describes a program and what its ranks do.
type Program struct {
	Name   string `json:"name"` // "prog.py"
	PID    int    `json:"pid"`  // of the process that watches it
	Ranks  int    `json:"ranks"`
	Stands bool   `json:"stands"` // at a breakpoint
	Stops  uint64 `json:"stops"`  // the number of breakpoints at which it has stood
	Text   string `json:"text"`   // a table of what the ranks do
}

// Tensor is a tensor of a rank, in memory that the rank shares: [signal pad | … | data of an allocation].
type Tensor struct {
	PID    int    `json:"pid"` // of the process whose descriptor FD the memory is
	FD     int    `json:"fd"`
	Inode  uint64 `json:"inode"`
	Size   int    `json:"size"`   // bytes of the memory
	Pad    int    `json:"pad"`    // of the signal pad
	Data   int    `json:"data"`   // where the data begins
	Bytes  int    `json:"bytes"`  // of the data
	Offset int    `json:"offset"` // of the tensor in the data
	DType  string `json:"dtype"`  // PyTorch's name: "float32"
	Shape  []int  `json:"shape"`
}

// Variable is a tensor that has a name where a rank stands.
type Variable struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Bytes int64  `json:"bytes"`
	Value string `json:"value"`
}

// Open opens the memory of a tensor.
func (t *Tensor) Open() (*os.File, error) {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", t.PID, t.FD), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("the memory of process %d cannot be opened: %w: attach on the host of the program, as its user, and in its container",
			t.PID, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if info.Sys().(*syscall.Stat_t).Ino != t.Inode {
		f.Close()
		return nil, fmt.Errorf("process %d has freed the memory meanwhile: ask for the tensor again", t.PID)
	}
	return f, nil
}
