package symmem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelfile"
	"github.com/symmrepl/symmrepl/symmem/internal/tensorfile"
)

// failure turns an error of the layers below into one in the user's words.
func (rt *Runtime) failure(op string, err error) *Error {
	e := &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: -1, Msg: err.Error(), Err: err}
	var (
		ours      *Error
		refused   *seam.Refusal
		absent    *bootstrap.AbsentError
		mismatch  *bootstrap.MismatchError
		file      *bootstrap.FileError
		driver    *device.DriverError
		fault     *device.KernelFault
		library   *device.LibraryError
		compile   *device.CompileError
		available *device.UnavailableError
		ofFile    *tensorfile.Error
		ofKernels *kernelfile.Error
	)
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &refused):
		return &Error{Kind: Kind(refused.Kind), Op: op, Rank: rt.rank, Peer: refused.Peer, Arg: refused.Arg, Msg: refused.Msg,
			Hint: refused.Hint}
	case errors.As(err, &absent):
		e.Kind, e.Peer = KindPeer, absent.Rank
		e.Msg = fmt.Sprintf("rank %d %s", absent.Rank, absent.Why)
		e.Hint = "every member of the group must make this call"
		if absent.Why == bootstrap.Finished { // the rank has not failed
			e.Kind = KindMismatch
		}
		if absent.Left > 1 {
			e.Hint = survivorsHint
		}
	case errors.As(err, &mismatch):
		e.Kind, e.Msg = KindMismatch, mismatch.Error()
		e.Hint = "nothing was done; make the same call on all of them"
	case errors.As(err, &file):
		e.Peer = file.Peer
	case errors.Is(err, context.Canceled) && rt.vain.Load():
		e.Kind, e.Msg = KindDeadlock, "waited in vain for the other ranks: "+rt.whyAborted()
		e.Hint = "every member of the group must make this call"
	case errors.Is(err, context.Canceled):
		e.Kind, e.Msg = KindInterrupted, "gave up waiting for the other ranks: "+rt.whyAborted()
	case errors.As(err, &driver):
		e.Msg, e.Hint = fmt.Sprintf("%s: %s (%d): %s", driver.Call, driver.Name, driver.Code, driver.Text), driver.Hint
		if others := rt.sharing().With(rt.rank); errors.Is(err, device.ErrOutOfMemory) && others != nil {
			e.Hint += fmt.Sprintf("; the ranks %s share the memory of a GPU", places.Joined(others))
		}
		if driver.Name == "EMFILE" && e.Hint == "" {
			e.Hint = rt.noDescriptors()
		}
		if driver.Poisoned {
			e.Kind, e.Lost = KindFault, true
		}
	case errors.As(err, &fault):
		e.Kind = KindFault
		what, outside := rt.outside(fault)
		if outside {
			e.Hint = "does the kernel compare its index with the number of elements?"
		}
		e.Msg = fmt.Sprintf("kernel %s, block %v, thread %v: %s", fault.Kernel, fault.Block, fault.Thread, what)
		e.setPosition(fault.Where)
		e.Source = fault.Source
		e.Caller = rt.calls.LaunchOf(fault.Kernel)
		if !outside && rt.all != nil && rt.all.split.Spans() {
			e.Hint = "a handle has no pointers to members on other hosts: symm::put and symm::get reach them"
		}
		if rt.abort.Load() != nil {
			e.Kind = KindInterrupted
		}
	case errors.As(err, &library):
		e.Msg = library.Error()
		if strings.Contains(library.Text, "invalid device function") || strings.Contains(library.Text, "no kernel image") {
			e.Hint = fmt.Sprintf("this build of %s has no kernel of the call for a GPU of %s: set SYMMREPL_NCCL to another one",
				library.Library, rt.info.Arch)
		}
	case errors.As(err, &compile):
		e.Kind = KindCompile
		e.setCompile(compile)
	case errors.As(err, &available):
		e.Msg, e.Hint = "device "+available.Kind+" is not available: "+available.Why, available.Hint
	case errors.As(err, &ofFile):
		rt.setFile(e, ofFile.File, ofFile.Text(), ofFile.Hint, ofFile.Err)
	case errors.As(err, &ofKernels):
		rt.setFile(e, ofKernels.File, ofKernels.Text(), ofKernels.Hint, ofKernels.Err)
	case errors.Is(err, device.ErrCapturing):
		e.Kind, e.Hint = KindMisuse, "make this call before the capture"
	case errors.Is(err, syscall.EMFILE):
		e.Hint = rt.noDescriptors()
	}
	return e
}

// noDescriptors is the hint of errors for want of file descriptors.
func (rt *Runtime) noDescriptors() string {
	return fmt.Sprintf("rank %d has no file descriptor left: free tensors and close files there, or raise `ulimit -n`", rt.rank)
}

// setFile adds the file to an error about reading or writing it.
func (rt *Runtime) setFile(e *Error, path, text, hint string, cause error) {
	e.Msg, e.Hint, e.Arg = text, hint, "path"
	absent := errors.Is(cause, fs.ErrNotExist)
	if cause == nil || absent || errors.Is(cause, fs.ErrPermission) {
		e.Kind = KindMisuse
	}
	if folder, err := os.Getwd(); absent && e.Hint == "" && err == nil && !filepath.IsAbs(path) {
		e.Hint = fmt.Sprintf("rank %d works in %s", rt.rank, folder)
	}
}

// setPosition reads "cell[3]:7".
func (e *Error) setPosition(where string) {
	i := strings.LastIndexByte(where, ':')
	if i < 0 {
		return
	}
	var line int
	if _, err := fmt.Sscanf(where[i+1:], "%d", &line); err == nil {
		e.File, e.Line = where[:i], line
	}
}

// setCompile takes the first diagnostic for the error itself and the rest, each once, for its
// detail.
func (e *Error) setCompile(c *device.CompileError) {
	e.Msg, e.Detail = "the kernel does not compile", c.Log
	if len(c.Diagnostics) == 0 {
		return
	}
	d := c.Diagnostics[0]
	e.Msg, e.File, e.Line, e.Column, e.Source = d.Text, d.File, d.Line, d.Column, d.Source
	e.Detail, e.Hint = "", nccl.CompileHint(d.Text)
	said := map[device.Diagnostic]bool{d: true}
	var others []string
	for _, d := range c.Diagnostics[1:] {
		if !said[d] {
			said[d] = true
			others = append(others, d.String())
		}
	}
	e.Detail = strings.Join(others, "\n")
}
