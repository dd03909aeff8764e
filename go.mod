module github.com/symmrepl/symmrepl

go 1.26

require (
	github.com/NVIDIA/go-nvml v0.13.0-1
	github.com/chzyer/readline v1.5.1
	github.com/creack/pty v1.1.24
	github.com/traefik/yaegi v0.16.1
	golang.org/x/sys v0.38.0
	golang.org/x/term v0.37.0
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.23.0 // indirect
	golang.org/x/sync v0.11.0 // indirect
	golang.org/x/tools v0.30.0 // indirect
	honnef.co/go/tools v0.6.1 // indirect
)

tool honnef.co/go/tools/cmd/staticcheck
