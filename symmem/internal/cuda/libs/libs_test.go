package libs

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// world is a simulated machine in a folder.
type world struct {
	t    *testing.T
	root string
	env  map[string]string
}

func newWorld(t *testing.T) *world {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, root, map[string]string{}}
}

// file makes empty files.
func (w *world) file(paths ...string) {
	w.t.Helper()
	for _, p := range paths {
		p = filepath.Join(w.root, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o700); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) link(to, at string) {
	w.t.Helper()
	at = filepath.Join(w.root, at)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) set(name string, paths ...string) {
	for i := range paths {
		paths[i] = filepath.Join(w.root, paths[i])
	}
	w.env[name] = strings.Join(paths, ":")
}

func (w *world) host() Host {
	return Host{func(name string) string { return w.env[name] }, filepath.Join(w.root, "work"),
		filepath.Join(w.root, "ld.so.cache"), []string{filepath.Join(w.root, "usr/local/cuda")}, []string{filepath.Join(w.root, "usr/include")}}
}

// found lists "path version origin", one library on each line.
func (w *world) found(k Kind) string {
	var lines []string
	for _, l := range w.host().Find(k) {
		path, err := filepath.Rel(w.root, l.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		lines = append(lines, strings.TrimSpace(path+" "+l.Version)+" "+l.Origin)
	}
	return strings.Join(lines, "\n")
}

func (w *world) want(k Kind, lines ...string) {
	w.t.Helper()
	if got, want := w.found(k), strings.Join(lines, "\n"); got != want {
		w.t.Errorf("found\n%s\nwant\n%s", got, want)
	}
}

func TestNothing(t *testing.T) {
	w := newWorld(t)
	for _, k := range append(Kinds(), UCX()) {
		w.want(k, []string{}...)
	}
}

func TestOrder(t *testing.T) {
	w := newWorld(t)
	w.file("ld/libnvrtc.so.12.4.1", "usr/lib/libnvrtc.so.13.0.88", "usr/local/cuda/lib64/libnvrtc.so.13",
		"venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
		"venv/lib/python3.12/site-packages/nvidia_cuda_nvrtc-13.1.2.dist-info/METADATA",
		"venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
		"venv/lib/python3.12/site-packages/nvidia_cuda_nvrtc_cu12-12.8.93.dist-info/METADATA",
		"work/.venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
		"work/.venv/lib/python3.11/site-packages/nvidia_cuda_nvrtc-13.10.1.dist-info/METADATA")
	w.link("libnvrtc.so.12.4.1", "ld/libnvrtc.so.12")
	w.link("libnvrtc.so.13.0.88", "usr/lib/libnvrtc.so.13")
	w.set("LD_LIBRARY_PATH", "empty", "ld")
	w.set("VIRTUAL_ENV", "venv")
	w.cache("libnvrtc.so.13", "usr/lib/libnvrtc.so.13")
	w.want(NVRTC(),
		"usr/lib/libnvrtc.so.13 13.0.88 ldconfig",
		"usr/local/cuda/lib64/libnvrtc.so.13 toolkit",
		"work/.venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13 13.10.1 python",
		"venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13 13.1.2 python",
		"ld/libnvrtc.so.12 12.4.1 LD_LIBRARY_PATH",
		"venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12 12.8.93 python")

	w.set("SYMMREPL_NVRTC", "ld")
	w.want(NVRTC(), "ld/libnvrtc.so.12 12.4.1 SYMMREPL_NVRTC")
	w.set("SYMMREPL_NVRTC", "usr/lib/libnvrtc.so.13.0.88")
	w.want(NVRTC(), "usr/lib/libnvrtc.so.13.0.88 13.0.88 SYMMREPL_NVRTC")
	w.set("SYMMREPL_NVRTC", "nowhere")
	w.want(NVRTC(), []string{}...)
}

func TestPythonPrefixes(t *testing.T) {
	w := newWorld(t)
	w.file("opt/python/bin/python3.12", "system/bin/python3",
		"opt/python/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
		"opt/python/lib/python3.12/site-packages/nvidia_nccl_cu13-2.28.9.dist-info/METADATA",
		"odd [1]/lib64/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
		"odd [1]/lib64/python3.12/site-packages/nvidia_nccl_cu13-2.30.4.dist-info/METADATA",
		"system/lib/python3/dist-packages/nvidia/nccl/lib/libnccl.so.2",
		"home/.local/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
		"home/.local/lib/python3.12/site-packages/nvidia_nccl_cu12-2.9.1.dist-info/METADATA",
		"home/.local/lib/python3.12/site-packages/nvidia_ncclish-3.0.0.dist-info/METADATA")
	w.link(filepath.Join(w.root, "opt/python/bin/python3.12"), "usr/bin/python3")
	w.set("PATH", "usr/bin", "system/bin")
	w.set("CONDA_PREFIX", "odd [1]")
	w.set("HOME", "home")
	w.want(NCCL(),
		"odd [1]/lib64/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2 2.30.4 python",
		"opt/python/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2 2.28.9 python",
		"home/.local/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2 2.9.1 python",
		"system/lib/python3/dist-packages/nvidia/nccl/lib/libnccl.so.2 python")
}

func TestUCX(t *testing.T) {
	w := newWorld(t)
	w.file("usr/lib/libucp.so.0.0.0", "unpacked/libucp.so.0",
		"work/.venv/lib/python3.11/site-packages/libucx/lib/libucp.so.0",
		"work/.venv/lib/python3.11/site-packages/libucx_cu13-1.22.0.dist-info/METADATA",
		"venv/lib/python3.12/site-packages/libucx/lib/libucp.so.0",
		"venv/lib/python3.12/site-packages/libucx_cu12-1.19.1.dist-info/METADATA")
	w.link("libucp.so.0.0.0", "usr/lib/libucp.so.0")
	w.set("VIRTUAL_ENV", "venv")
	w.cache("libucp.so.0", "usr/lib/libucp.so.0")
	w.want(UCX(),
		"usr/lib/libucp.so.0 ldconfig",
		"work/.venv/lib/python3.11/site-packages/libucx/lib/libucp.so.0 1.22.0 python",
		"venv/lib/python3.12/site-packages/libucx/lib/libucp.so.0 1.19.1 python")
	w.set("SYMMREPL_UCX_LIB", "unpacked")
	w.want(UCX(), "unpacked/libucp.so.0 SYMMREPL_UCX_LIB")
}

func TestNeighbours(t *testing.T) {
	w := newWorld(t)
	w.file("a/lib/libnvrtc.so.13", "a/lib/libnvrtc-builtins.so.13.5", "a/lib/libnvrtc-builtins.so.12.9", "a/include/cuda_fp16.h",
		"nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cuda_runtime/include/cuda_fp16.h",
		"real/libnvrtc.so.13.0.88", "real/libnvrtc-builtins.so.13.0", "usr/local/cuda/include/cuda_fp16.h")
	w.link(filepath.Join(w.root, "real/libnvrtc.so.13.0.88"), "links/libnvrtc.so.13")
	w.file("a/include/cccl/nv/target")
	w.set("A", "a/include", "a/include/cccl")
	w.set("RUNTIME", "nvidia/cuda_runtime/include")
	w.set("TOOLKIT", "usr/local/cuda/include")
	at := func(p string) string { return filepath.Join(w.root, p) }
	for library, want := range map[string][2]string{
		"a/lib/libnvrtc.so.13":                 {"a/lib/libnvrtc-builtins.so.13.5", "A"},
		"nvidia/cuda_nvrtc/lib/libnvrtc.so.12": {"", "RUNTIME"},
		"links/libnvrtc.so.13":                 {"real/libnvrtc-builtins.so.13.0", "TOOLKIT"},
	} {
		if want[0] != "" {
			want[0] = at(want[0])
		}
		if got := Builtins(at(library)); got != want[0] {
			t.Errorf("builtins of %s: %s", library, got)
		}
		if got := strings.Join(w.host().Includes(at(library)), ":"); got != w.env[want[1]] {
			t.Errorf("headers of %s: %s", library, got)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"2.28.9", "2.28.10", -1}, {"13.0", "13", 0}, {"", "1", -1}, {"3.0", "2.99", 1}, {"x", "0", 0}} {
		if got := compareVersions(c.a, c.b); got != c.want {
			t.Errorf("%q against %q is %d", c.a, c.b, got)
		}
	}
}

// cache writes a loader's cache of soname, path pairs.
func (w *world) cache(pairs ...string) {
	w.t.Helper()
	for i := 1; i < len(pairs); i += 2 {
		pairs[i] = filepath.Join(w.root, pairs[i])
	}
	if err := os.WriteFile(filepath.Join(w.root, "ld.so.cache"), loaderCache(pairs...), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func loaderCache(pairs ...string) []byte {
	data := make([]byte, cacheHeader)
	copy(data, cacheMagic)
	n := len(pairs) / 2
	binary.NativeEndian.PutUint32(data[len(cacheMagic):], uint32(n))
	text := []byte{}
	for i := range n {
		entry := make([]byte, cacheEntry)
		binary.NativeEndian.PutUint32(entry, 0x303)
		for field, s := range pairs[2*i : 2*i+2] {
			binary.NativeEndian.PutUint32(entry[4+4*field:], uint32(cacheHeader+n*cacheEntry+len(text)))
			text = append(append(text, s...), 0)
		}
		data = append(data, entry...)
	}
	return append(data, text...)
}

func TestLoaderCache(t *testing.T) {
	got := parseCache(append([]byte("ld.so-1.7.0 older part"), loaderCache("liba.so.1", "/first", "liba.so.1", "/second", "libb.so.2", "/b")...))
	if want := map[string]string{"liba.so.1": "/first", "libb.so.2": "/b"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	path, ok := readCache("/etc/ld.so.cache")["libc.so.6"]
	if _, err := os.Stat("/etc/ld.so.cache"); err != nil {
		t.Skip("no loader cache here")
	}
	if info, err := os.Stat(path); !ok || err != nil || info.IsDir() {
		t.Errorf("the C library is at %q (%v)", path, err)
	}
}

func FuzzLoaderCache(f *testing.F) {
	f.Add(loaderCache("liba.so.1", "/a"))
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, path := range parseCache(data) {
			if name == "" || path == "" {
				t.Errorf("%q is at %q", name, path)
			}
		}
	})
}
