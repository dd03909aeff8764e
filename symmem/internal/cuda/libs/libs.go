package libs

import (
	"os"
	"path/filepath"
	"strings"
)

// Kind is a kind of library to look for.
type Kind struct {
	Name    string   // "NVRTC"
	Env     string   // the variable that names a file or a folder and replaces the search
	Sonames []string // the best first
	Wheel   string   // the prefix of the wheel's name, as in its dist-info folder
	Folder  string   // pattern of the library's folder under site-packages
	Version string   // the exported function that returns the version
	Hint    string   // how to get it
	Package string   // the wheel to install
}

// Kinds returns every library that the cuda device can use, except the driver.
func Kinds() []Kind { return []Kind{NVRTC(), NCCL(), CuBLASLt(), NVSHMEM(), CUPTI()} }

// nvidia is the pattern of the folders of libraries in NVIDIA's wheels.
const nvidia = "nvidia/*/lib"

// NVRTC is the compiler: kernels need it, unless they are in the cache.
func NVRTC() Kind {
	return Kind{
		Name: "NVRTC", Env: "SYMMREPL_NVRTC", Sonames: []string{"libnvrtc.so.13", "libnvrtc.so.12"},
		Wheel: "nvidia_cuda_nvrtc", Folder: nvidia, Version: "nvrtcVersion",
		Hint:    "install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc`, or set SYMMREPL_NVRTC to the library or its folder",
		Package: "nvidia-cuda-nvrtc",
	}
}

// NCCL is NVIDIA's collectives library.
func NCCL() Kind {
	return Kind{
		Name: "NCCL", Env: "SYMMREPL_NCCL", Sonames: []string{"libnccl.so.2"}, Wheel: "nvidia_nccl", Folder: nvidia,
		Version: "ncclGetVersion",
		Hint:    "`pip install nvidia-nccl-cu13`, or set SYMMREPL_NCCL to the library or its folder", Package: "nvidia-nccl-cu13",
	}
}

// CuBLASLt multiplies matrices.
func CuBLASLt() Kind {
	return Kind{
		Name: "cuBLASLt", Env: "SYMMREPL_CUBLASLT", Sonames: []string{"libcublasLt.so.13", "libcublasLt.so.12"},
		Wheel: "nvidia_cublas", Folder: nvidia,
		Version: "cublasLtGetVersion",
		Hint:    "install the CUDA toolkit, or `pip install nvidia-cublas`, or set SYMMREPL_CUBLASLT to the library or its folder",
		Package: "nvidia-cublas",
	}
}

// NVSHMEM is NVIDIA's OpenSHMEM.
func NVSHMEM() Kind {
	return Kind{
		Name: "NVSHMEM", Env: "SYMMREPL_NVSHMEM", Sonames: []string{"libnvshmem_host.so.3"}, Wheel: "nvidia_nvshmem",
		Folder:  nvidia,
		Version: "nvshmemx_vendor_get_version_info",
		Hint:    "`pip install nvidia-nvshmem-cu13`, or set SYMMREPL_NVSHMEM to the library or its folder",
		Package: "nvidia-nvshmem-cu13",
	}
}

// CUPTI records when a GPU works.
func CUPTI() Kind {
	return Kind{
		Name: "CUPTI", Env: "SYMMREPL_CUPTI", Sonames: []string{"libcupti.so.13", "libcupti.so.12"},
		Wheel: "nvidia_cuda_cupti", Folder: nvidia, Version: "cuptiGetVersion",
		Hint:    "install the CUDA toolkit, or `pip install nvidia-cuda-cupti`, or set SYMMREPL_CUPTI to the library or its folder",
		Package: "nvidia-cuda-cupti",
	}
}

// UCX carries traffic between hosts.
func UCX() Kind {
	return Kind{
		Name: "UCX", Env: "SYMMREPL_UCX_LIB", Sonames: []string{"libucp.so.0"}, Wheel: "libucx", Folder: "libucx/lib",
		Version: "ucp_get_version",
		Hint:    "`apt install libucx0`, or `pip install libucx-cu13`, or set SYMMREPL_UCX_LIB to libucp.so.0 or its folder",
		Package: "libucx-cu13",
	}
}

// Library is a library file that was found.
type Library struct {
	Path    string
	Soname  string
	Version string // from file names, such as "13.0.88"; empty if they do not contain it
	// the place of the search in which it was found: "SYMMREPL_NVRTC", "LD_LIBRARY_PATH",
	// "ldconfig", "toolkit", "python"
	Origin string
}

// Host is the part of a machine that a search looks at.
type Host struct {
	Getenv  func(string) string
	Folder  string   // the working directory
	Cache   string   // the loader's cache
	Toolkit []string // folders of system-wide installations
	System  []string // folders of system-wide headers
}

// ThisHost returns the machine that the program runs on.
func ThisHost() Host {
	folder, err := os.Getwd()
	if err != nil {
		folder = "."
	}
	return Host{
		Getenv: os.Getenv, Folder: folder, Cache: "/etc/ld.so.cache", Toolkit: []string{"/usr/local/cuda"},
		System: []string{"/usr/include"},
	}
}

// Find returns the libraries of a kind, the preferred one first: ordered by place for the first
// soname, then for the second. If the environment variable of the kind is set, only the libraries
// that it names count.
func (h Host) Find(k Kind) []Library {
	if own := h.Getenv(k.Env); own != "" {
		return h.named(k, own)
	}
	var found []Library
	cache := readCache(h.Cache)
	packages := h.sitePackages()
	for _, soname := range k.Sonames {
		for _, dir := range filepath.SplitList(h.Getenv("LD_LIBRARY_PATH")) {
			found = add(found, filepath.Join(dir, soname), "LD_LIBRARY_PATH")
		}
		found = add(found, cache[soname], "ldconfig")
		for _, dir := range h.toolkits() {
			found = add(found, filepath.Join(dir, "lib64", soname), "toolkit")
		}
		found = append(found, wheels(packages, soname, k)...)
	}
	return found
}

// named returns the libraries that an environment variable names: a file, or the libraries in a
// folder.
func (h Host) named(k Kind, own string) []Library {
	info, err := os.Stat(own)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		return add(nil, own, k.Env)
	}
	var found []Library
	for _, soname := range k.Sonames {
		found = add(found, filepath.Join(own, soname), k.Env)
	}
	return found
}

func (h Host) toolkits() []string {
	var dirs []string
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if dir := h.Getenv(name); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, h.Toolkit...)
}

// add appends the library at path if it exists and is not yet listed.
func add(found []Library, path, origin string) []Library {
	if path == "" {
		return found
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return found
	}
	for _, l := range found {
		if same, err := filepath.EvalSymlinks(l.Path); err == nil && same == real {
			return found
		}
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return append(found, Library{Path: path, Soname: filepath.Base(path), Version: versionOf(real), Origin: origin})
}

// versionOf reads "13.0.88" from "libnvrtc.so.13.0.88", and nothing from "libnvrtc.so.13" nor from
// "libucp.so.0.0.0", whose numbers are versions of an interface.
func versionOf(path string) string {
	_, v, _ := strings.Cut(filepath.Base(path), ".so.")
	if !strings.Contains(v, ".") || strings.HasPrefix(v, "0.") {
		return ""
	}
	return v
}

// Includes returns the folders of CUDA's headers that belong to a library, if there are any: beside
// its lib folder, in the wheel of the runtime, or in a toolkit. CUDA 13 keeps the C++ library,
// which cuda_fp16.h includes, in a separate folder.
func (h Host) Includes(library string) []string {
	base := filepath.Dir(filepath.Dir(library))
	dirs := []string{filepath.Join(base, "include"), filepath.Join(filepath.Dir(base), "cuda_runtime", "include")}
	for _, dir := range h.toolkits() {
		dirs = append(dirs, filepath.Join(dir, "include"))
	}
	for _, dir := range dirs {
		if !isFile(filepath.Join(dir, "cuda_fp16.h")) {
			continue
		}
		if cccl := filepath.Join(dir, "cccl"); isFile(filepath.Join(cccl, "nv", "target")) {
			return []string{dir, cccl}
		}
		return []string{dir}
	}
	return nil
}

// HeadersOf returns the folder of a library's own headers, which contains the header with the given
// name: beside its lib folder, or a folder of the system. It returns "" if there is none.
func (h Host) HeadersOf(library, name string) string {
	real, err := filepath.EvalSymlinks(library)
	if err != nil {
		real = library
	}
	dirs := []string{filepath.Join(filepath.Dir(filepath.Dir(library)), "include"),
		filepath.Join(filepath.Dir(filepath.Dir(real)), "include")}
	for _, dir := range append(dirs, h.System...) {
		if isFile(filepath.Join(dir, name)) {
			return dir
		}
	}
	return ""
}

// Builtins returns the libnvrtc-builtins that lies beside an NVRTC library, or "".
func Builtins(nvrtc string) string {
	real, err := filepath.EvalSymlinks(nvrtc)
	if err != nil {
		return ""
	}
	_, major, _ := strings.Cut(filepath.Base(real), ".so.")
	major, _, _ = strings.Cut(major, ".")
	for _, dir := range []string{filepath.Dir(nvrtc), filepath.Dir(real)} {
		if found, _ := filepath.Glob(filepath.Join(escape(dir), "libnvrtc-builtins.so."+major+".*")); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
