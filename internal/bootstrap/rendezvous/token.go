package rendezvous

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/procfs"
)

// TokenVariable is the environment variable with the secret that ranks on several hosts share, if
// it is not in a file.
const TokenVariable = "SYMMREPL_TOKEN"

// Least sizes of a token. 32 random hexadecimal digits have fewer than 8 distinct ones once in a
// hundred million times.
const (
	minToken    = 32 // characters
	minDistinct = 8  // distinct characters
)

// randomToken prints a good token.
const randomToken = "head -c 32 /dev/urandom | base64"

// TakeToken returns the token that the environment holds, "" if there is none, and removes it: user
// code in child processes must not get it, nor read it in this process's /proc/PID/environ.
func TakeToken() string {
	token := os.Getenv(TokenVariable)
	os.Unsetenv(TokenVariable)
	procfs.WipeEnviron(TokenVariable) // if the kernel refuses, the variable stays readable there
	return token
}

// Token takes the token that the environment holds, or reads the user's file. It is an error if
// there is none, or if it can be guessed.
func Token() (string, error) { return checkToken(TakeToken()) }

// checkToken returns the user's secret for worlds on several hosts: token or, if that is empty, the
// content of the user's file. It is an error if the secret can be guessed.
func checkToken(token string) (string, error) {
	from := TokenVariable
	if token == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return "", err
		}
		from = filepath.Join(config, "symmrepl", "token")
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("ranks on several hosts need a shared secret: set %s on all of them, or `mkdir -p %s && (umask 077; %s > %s)` in a home that they share",
				TokenVariable, filepath.Dir(from), randomToken, from)
		}
		if err != nil {
			return "", err
		}
		if info.Mode().Perm()&0o077 != 0 {
			return "", fmt.Errorf("%s can be read by others: chmod 600 it, and make a new one", from)
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		token = string(data)
	}
	token = strings.TrimSpace(token)
	if len(token) < minToken {
		return "", fmt.Errorf("the secret of %s has %d characters; at least %d random ones are needed: `%s` prints one", from,
			len(token), minToken, randomToken)
	}
	distinct := map[rune]bool{}
	for _, r := range token {
		distinct[r] = true
	}
	if len(distinct) < minDistinct {
		return "", fmt.Errorf("the secret of %s can be guessed: only %d of its characters are distinct; `%s` prints a good one",
			from, len(distinct), randomToken)
	}
	return token, nil
}

// errStranger ends a handshake with a process that has another token, or none.
var errStranger = errors.New("the other end does not know this session's token")

// tlsConfig returns a configuration by which both ends prove, in TLS 1.3, that they know token:
// each accepts only the key pair that follows from it. It serves clients and servers.
func tlsConfig(token string) (*tls.Config, error) {
	seed, err := hkdf.Key(sha256.New, []byte(token), nil, "symmrepl session key 1", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	public := key.Public().(ed25519.PublicKey)
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-24 * time.Hour), NotAfter: now.AddDate(1, 0, 0)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // names and authorities do not count, only the key below
		SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) > 0 {
				if theirs, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey); ok && bytes.Equal(theirs, public) {
					return nil
				}
			}
			return errStranger
		},
	}, nil
}

// stranger reports whether a handshake failed because the two ends have different tokens. The end
// that notices first answers with an alert.
func stranger(err error) bool {
	var alert *net.OpError
	return errors.Is(err, errStranger) || (errors.As(err, &alert) && alert.Op == "remote error")
}
