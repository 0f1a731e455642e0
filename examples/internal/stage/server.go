//go:build unix

package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// ErrMissing says that this machine does not have the program of a server.
var ErrMissing = errors.New("not on this machine")

// Server is a private server on a free port of the loopback.
type Server struct {
	name    string
	address string
	dir     string
	stop    syscall.Signal
	command func() *exec.Cmd
	ready   func(context.Context) error

	process *process // nil while it is down
}

// Redis starts a redis-server. It keeps an append-only file, so that locks
// outlive a restart: a Redis that forgets its locks gives them away twice.
func Redis(ctx context.Context) (*Server, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("redis-server: %w: install it (Debian: apt-get install redis-server) or name a server with --redis HOST:PORT", ErrMissing)
	}
	s, port, err := newServer("redis")
	if err != nil {
		return nil, err
	}
	s.stop = syscall.SIGTERM
	s.command = func() *exec.Cmd {
		return exec.Command(path, "--bind", "127.0.0.1", "--port", port, "--dir", s.dir,
			"--save", "", "--appendonly", "yes", "--appendfsync", "always")
	}
	s.ready = s.pings
	return s.started(ctx)
}

// Postgres starts a PostgreSQL with a cluster of its own. Connect to it with
// DSN.
func Postgres(ctx context.Context) (*Server, error) {
	path, err := postgres()
	if err != nil {
		return nil, err
	}
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	s, port, err := newServer("postgres")
	if err != nil {
		return nil, err
	}
	bin, data := filepath.Dir(path), filepath.Join(s.dir, "data")
	if err := s.initdb(ctx, bin, data, account); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	s.stop = syscall.SIGINT
	s.command = func() *exec.Cmd {
		cmd := exec.Command(path, "-D", data, "-p", port, "-F", "-c", "listen_addresses=127.0.0.1",
			"-c", "unix_socket_directories=", "-c", "shared_buffers=16MB")
		cmd.Dir, cmd.SysProcAttr = data, account.attributes()
		return cmd
	}
	s.ready = func(ctx context.Context) error {
		return exec.CommandContext(ctx, filepath.Join(bin, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", port).Run()
	}
	return s.started(ctx)
}

// Program starts a server that an example brings along. args are its command
// line, for that port; they may name files that args writes to dir, which is
// removed with the server. Down kills it.
func Program(ctx context.Context, path string, args func(dir, port string) ([]string, error), ready func(context.Context) error) (*Server, error) {
	s, port, err := newServer(filepath.Base(path))
	if err != nil {
		return nil, err
	}
	line, err := args(s.dir, port)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	s.name, s.stop, s.ready = path, syscall.SIGKILL, ready
	s.command = func() *exec.Cmd { return exec.Command(path, line...) }
	return s.started(ctx)
}

// DSN is the connection string of a server that Postgres started.
func (s *Server) DSN() string { return "postgres://postgres@" + s.address + "/postgres" }

// Address is host:port.
func (s *Server) Address() string { return s.address }

// Up starts the server again on the same port, with what it had stored.
func (s *Server) Up(ctx context.Context) error {
	output := filepath.Join(s.dir, "output.log")
	log, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.command()
	cmd.Stdout, cmd.Stderr = log, log
	if s.process, err = start(cmd); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	asking, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = Until(asking, s.name+" to answer", func(ctx context.Context) (bool, error) {
		select {
		case <-s.process.ended:
			return false, fmt.Errorf("%s ended while it started: %v\n%s", s.name, s.process.err, lastLines(output))
		default:
			return s.ready(ctx) == nil, nil
		}
	})
	if err != nil {
		s.Down()
	}
	return err
}

// Down stops the server and keeps what it stored.
func (s *Server) Down() {
	if s.process != nil {
		s.process.stop(s.stop)
		s.process = nil
	}
}

// Close stops the server and removes what it stored.
func (s *Server) Close() error {
	s.Down()
	return os.RemoveAll(s.dir)
}

func newServer(name string) (*Server, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	address := l.Addr().String()
	l.Close()
	dir, err := os.MkdirTemp("", "leaderscope-"+name+"-")
	if err != nil {
		return nil, "", err
	}
	_, port, _ := net.SplitHostPort(address)
	// The server may run as another user, who must pass through.
	return &Server{name: name, address: address, dir: dir}, port, os.Chmod(dir, 0o755)
}

func (s *Server) started(ctx context.Context) (*Server, error) {
	if err := s.Up(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// lastLines are those that say why a server ended; some servers say a lot.
func lastLines(file string) []byte {
	text, _ := os.ReadFile(file)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-5):], []byte("\n"))
}

func (s *Server) pings(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer := make([]byte, 64)
	n, err := conn.Read(answer)
	if err == nil && !bytes.HasPrefix(answer[:n], []byte("+PONG")) {
		err = fmt.Errorf("answered %q", answer[:n])
	}
	return err
}

func postgres() (string, error) {
	path, err := exec.LookPath("postgres")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
		if len(found) == 0 {
			return "", fmt.Errorf("postgres: %w: install it (Debian: apt-get install postgresql) or name a server with --postgres DSN", ErrMissing)
		}
		path = found[len(found)-1]
	}
	return filepath.EvalSymlinks(path) // initdb lies beside it
}

func (s *Server) initdb(ctx context.Context, bin, data string, account *account) error {
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if account != nil {
		if err := os.Chown(data, int(account.Uid), int(account.Gid)); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres",
		"-N", "--no-instructions", "-E", "UTF8", "--locale=C")
	cmd.Dir, cmd.SysProcAttr = data, account.attributes()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// account is the user that PostgreSQL runs as when this process is root, which
// PostgreSQL refuses; nil otherwise.
type account syscall.Credential

func unprivileged() (*account, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("user postgres: %w: PostgreSQL does not run as root", ErrMissing)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &account{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func (a *account) attributes() *syscall.SysProcAttr {
	if a == nil {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: (*syscall.Credential)(a)}
}
