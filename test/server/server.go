// Package server starts real servers on free ports of the loopback and stops
// them, leaving nothing behind. Each can be brought down and up again on the
// same port with what it had stored. Electors and faults do not belong here.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is how long a server may take to be ready on a loaded machine.
const patience = 2 * time.Minute

// Server is one running server, or a cluster that stands for one.
type Server interface {
	// Version is what the server says of itself.
	Version() string
	// Addresses are host:port, one for each member.
	Addresses() []string
	// Down stops it and keeps what it stored; Up brings it back.
	Down()
	Up() error
	// Close stops it and removes what it stored.
	Close()
}

// ErrMissing says that a server cannot be had on this machine.
var ErrMissing = errors.New("not to be had here")

// Start starts a server by name.
func Start(name string) (Server, error) {
	start, ok := servers[name]
	if !ok {
		return nil, fmt.Errorf("server %q: %w: known are %v", name, ErrMissing, Names())
	}
	s, err := start()
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", name, err)
	}
	return s, nil
}

// Names lists the servers that Start knows.
func Names() []string {
	var names []string
	for name := range servers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var servers = map[string]func() (Server, error){
	"dynalite":       startDynalite,
	"etcd":           func() (Server, error) { return startEtcd(3) },
	"kube-apiserver": startKubernetes,
	"mariadb":        startMariaDB,
	"nats":           startNATS,
	"pgbouncer":      startPgBouncer,
	"postgres":       startPostgres,
	"redis":          startRedis,
	"zookeeper":      startZooKeeper,
}

// daemon is a server that is a process.
type daemon struct {
	version string
	address string
	dir     string
	command func() *exec.Cmd
	stop    os.Signal
	ready   func(context.Context) error
	also    func() // closed with it

	cmd  *exec.Cmd
	done chan error
}

func (d *daemon) Version() string     { return d.version }
func (d *daemon) Addresses() []string { return []string{d.address} }

// Up starts the process and waits until it answers. The kernel kills it if
// this process dies first.
func (d *daemon) Up() error {
	d.cmd = d.command()
	if d.cmd.SysProcAttr == nil {
		d.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	d.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	output := filepath.Join(d.dir, "output.log")
	log, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		return err
	}
	d.done = make(chan error, 1)
	go func(cmd *exec.Cmd, done chan error) { done <- cmd.Wait() }(d.cmd, d.done)
	return d.await(output)
}

func (d *daemon) await(output string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := d.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case exit := <-d.done:
			d.cmd = nil
			return fmt.Errorf("ended while it started: %v\n%s", exit, tail(output))
		case <-ctx.Done():
			d.Down()
			return fmt.Errorf("not ready after %v: %w\n%s", patience, err, tail(output))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (d *daemon) Down() {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(d.stop)
	select {
	case <-d.done:
	case <-time.After(20 * time.Second):
		_ = d.cmd.Process.Kill()
		<-d.done
	}
	d.cmd = nil
}

func (d *daemon) Close() {
	d.Down()
	if d.also != nil {
		d.also()
	}
	_ = os.RemoveAll(d.dir)
}

// run brings a daemon up, or removes what it left.
func run(d *daemon) (Server, error) {
	if err := d.Up(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func tail(file string) string {
	text, _ := os.ReadFile(file)
	if len(text) > 2000 {
		text = text[len(text)-2000:]
	}
	return string(text)
}

// freePort is a port that was free a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// workdir makes a folder under which a server of that user may write.
func workdir(name string) (string, error) {
	dir, err := os.MkdirTemp("", "leaderscope-"+name+"-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// as returns the credential of a user that a server insists on when this
// process is root; nil when it is not.
func as(name string) (*syscall.SysProcAttr, func(dir string) error, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, func(string) error { return nil }, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: no user %s", ErrMissing, name)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	attr := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return attr, func(dir string) error { return os.Chown(dir, uid, gid) }, nil
}

// program finds a program in PATH or at one of these places.
func program(name string, places ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, place := range places {
		found, _ := filepath.Glob(place)
		if len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", fmt.Errorf("%w: no program %s", ErrMissing, name)
}

// says asks a program for its version and takes the word at that place.
func says(place int, program string, args ...string) string {
	out, err := exec.Command(program, args...).CombinedOutput()
	words := strings.Fields(string(out))
	if err != nil || len(words) <= place {
		return "unknown"
	}
	return strings.TrimPrefix(words[place], "v=")
}

// dials is ready when something listens.
func dials(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// queries is ready when PostgreSQL answers a query: it listens before it does.
func queries(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, "postgres://postgres@"+address+"/postgres?sslmode=disable")
		if err != nil {
			return err
		}
		return errors.Join(conn.Ping(ctx), conn.Close(ctx))
	}
}

// answers is ready when a line gets an answer that starts with want.
func answers(address, line, want string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		if _, err := conn.Write([]byte(line)); err != nil {
			return err
		}
		got := make([]byte, 256)
		n, err := conn.Read(got)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(got[:n]), want) {
			return fmt.Errorf("answered %q", got[:n])
		}
		return nil
	}
}

// Root is the folder of the repository that this process was started in; "."
// outside of it.
func Root() string {
	dir, _ := os.Getwd()
	for dir != "/" {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return "."
}

// cached finds a file that the scripts built under .cache.
func cached(pattern string) (string, bool) {
	found, _ := filepath.Glob(filepath.Join(Root(), ".cache", pattern))
	if len(found) == 0 {
		return "", false
	}
	return found[len(found)-1], true
}
