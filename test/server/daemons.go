package server

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// startRedis keeps an append-only file, so that locks outlive a restart.
func startRedis() (Server, error) {
	path, err := program("redis-server")
	if err != nil {
		return nil, err
	}
	dir, port, err := place("redis")
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + port
	return run(&daemon{
		version: says(2, path, "--version"), address: address, dir: dir, stop: syscall.SIGTERM,
		ready: answers(address, "PING\r\n", "+PONG"),
		command: func() *exec.Cmd {
			return exec.Command(path, "--bind", "127.0.0.1", "--port", port, "--dir", dir,
				"--save", "", "--appendonly", "yes", "--appendfsync", "always")
		},
	})
}

func startPostgres() (Server, error) {
	path, err := program("postgres", "/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	dir, port, err := place("postgres")
	if err != nil {
		return nil, err
	}
	attr, own, err := as("postgres")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := owned(data, own); err != nil {
		return nil, err
	}
	initdb := exec.Command(filepath.Join(filepath.Dir(path), "initdb"),
		"-D", data, "-A", "trust", "-U", "postgres", "-N", "--no-instructions", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = attr, data
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	address := "127.0.0.1:" + port
	return run(&daemon{
		version: says(2, path, "--version"), address: address, dir: dir, stop: syscall.SIGINT,
		ready: queries(address),
		command: func() *exec.Cmd {
			cmd := exec.Command(path, "-D", data, "-p", port, "-F", "-c", "listen_addresses=127.0.0.1",
				"-c", "unix_socket_directories=", "-c", "shared_buffers=16MB")
			cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: attr.Credential}, data
			return cmd
		},
	})
}

func startMariaDB() (Server, error) {
	path, err := program("mariadbd", "/usr/sbin/mariadbd")
	if err != nil {
		return nil, err
	}
	install, err := program("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	dir, port, err := place("mariadb")
	if err != nil {
		return nil, err
	}
	attr, own, err := as("mysql")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := owned(data, own); err != nil {
		return nil, err
	}
	setup := exec.Command(install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	setup.SysProcAttr, setup.Dir = attr, data
	if out, err := setup.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	address := "127.0.0.1:" + port
	version, _, _ := strings.Cut(says(2, path, "--version"), "-")
	return run(&daemon{
		version: version, address: address, dir: dir, stop: syscall.SIGTERM,
		ready: dials(address),
		command: func() *exec.Cmd {
			cmd := exec.Command(path, "--no-defaults", "--datadir="+data, "--bind-address=127.0.0.1",
				"--port="+port, "--socket="+filepath.Join(data, "socket"), "--skip-name-resolve")
			cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: attr.Credential}, data
			return cmd
		},
	})
}

// startDynalite starts an emulator of DynamoDB, which the script fetched.
func startDynalite() (Server, error) {
	node, err := program("node")
	if err != nil {
		return nil, err
	}
	cli, ok := cached("dynalite-*/node_modules/dynalite/cli.js")
	if !ok {
		return nil, fmt.Errorf("%w: no dynalite under .cache", ErrMissing)
	}
	dir, port, err := place("dynalite")
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + port
	version := strings.Split(strings.TrimPrefix(cli[strings.LastIndex(cli, "dynalite-"):], "dynalite-"), "/")[0]
	return run(&daemon{
		version: version, address: address, dir: dir, stop: syscall.SIGTERM,
		ready: dials(address),
		command: func() *exec.Cmd {
			return exec.Command(node, "-e", outlives, cli, "--host", "127.0.0.1", "--port", port, "--createTableMs", "50", "--path", filepath.Join(dir, "data"))
		},
	})
}

// outlives runs a program of node that serves on after an exception: dynalite throws
// the error of a request whose client gives up, and would end with it.
const outlives = `process.on("uncaughtException", e => console.error(e)); require(process.argv[1])`

// place is a folder and a port.
func place(name string) (dir, port string, err error) {
	if port, err = freePort(); err != nil {
		return "", "", err
	}
	dir, err = workdir(name)
	return dir, port, err
}

func owned(dir string, own func(string) error) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return own(dir)
}

// pgBouncer is a pooler in transaction mode before a PostgreSQL of its own.
type pgBouncer struct {
	Server
	behind Server
}

func (p pgBouncer) Close() {
	p.Server.Close()
	p.behind.Close()
}

func startPgBouncer() (_ Server, err error) {
	path, err := program("pgbouncer", "/usr/sbin/pgbouncer")
	if err != nil {
		return nil, err
	}
	behind, err := startPostgres()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			behind.Close()
		}
	}()
	_, upstream, _ := strings.Cut(behind.Addresses()[0], ":")
	dir, port, err := place("pgbouncer")
	if err != nil {
		return nil, err
	}
	attr, own, err := as("postgres") // it refuses to run as root
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := owned(data, own); err != nil {
		return nil, err
	}
	config := filepath.Join(data, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%s user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\n"+
		"unix_socket_dir =\nauth_type = any\npool_mode = transaction\nserver_round_robin = 1\n", upstream, port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + port
	s, err := run(&daemon{
		version: says(1, path, "--version"), address: address, dir: dir, stop: syscall.SIGTERM,
		ready: queries(address),
		command: func() *exec.Cmd {
			cmd := exec.Command(path, config)
			cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: attr.Credential}, data
			return cmd
		},
	})
	if err != nil {
		return nil, err
	}
	return pgBouncer{s, behind}, nil
}
