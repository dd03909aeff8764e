module github.com/symmrepl/symmrepl/client

go 1.21
