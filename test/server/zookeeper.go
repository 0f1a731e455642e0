package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

func startZooKeeper() (Server, error) {
	d, err := newZooKeeper()
	if err != nil {
		return nil, err
	}
	if err := d.configure(""); err != nil {
		d.Close()
		return nil, err
	}
	return run(d.daemon)
}

// zooKeeper is one server and its configuration.
type zooKeeper struct {
	*daemon
	config string
}

func newZooKeeper() (*zooKeeper, error) {
	java, err := program("java")
	if err != nil {
		return nil, err
	}
	jars, _ := filepath.Glob("/usr/share/java/zookeeper-[0-9]*.jar")
	if len(jars) == 0 {
		return nil, fmt.Errorf("%w: no /usr/share/java/zookeeper-*.jar", ErrMissing)
	}
	dir, port, err := place("zookeeper")
	if err != nil {
		return nil, err
	}
	config, address := filepath.Join(dir, "zk.cfg"), "127.0.0.1:"+port
	return &zooKeeper{config: config, daemon: &daemon{
		version: strings.TrimSuffix(strings.TrimPrefix(filepath.Base(jars[0]), "zookeeper-"), ".jar"),
		address: address, dir: dir, stop: syscall.SIGTERM,
		ready: answers(address, "srvr", "Zookeeper version"),
		command: func() *exec.Cmd {
			return exec.Command(java, "-Xmx128m", "-cp", "/etc/zookeeper/conf:/usr/share/java/zookeeper.jar:/usr/share/java/*",
				"org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
		},
	}}, nil
}

func (z *zooKeeper) configure(members string) error {
	_, port, _ := strings.Cut(z.address, ":")
	text := fmt.Sprintf("tickTime=500\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n%s",
		z.dir, port, members)
	return os.WriteFile(z.config, []byte(text), 0o600)
}

// ensemble is several servers of ZooKeeper that stand for one.
type ensemble []*zooKeeper

// StartZooKeeperEnsemble starts three members. The first follows one of the
// others, and reaches each where route says: a test can cut it off from them.
// It notices that after ten seconds.
func StartZooKeeperEnsemble(route func(address string) (string, error)) (Server, error) {
	var all ensemble
	var ports [][2]string // of the quorum and of the election
	for range 3 {
		z, err := newZooKeeper()
		if err != nil {
			all.Close()
			return nil, err
		}
		all = append(all, z)
		quorum, err := freePort()
		election, again := freePort()
		if err := errors.Join(err, again); err != nil {
			all.Close()
			return nil, err
		}
		ports = append(ports, [2]string{quorum, election})
	}
	for i, z := range all {
		if err := z.join(i, ports, route); err != nil {
			all.Close()
			return nil, err
		}
	}
	if err := all.Up(); err != nil {
		all.Close()
		return nil, err
	}
	return all, nil
}

// join configures a member.
func (z *zooKeeper) join(number int, ports [][2]string, route func(string) (string, error)) error {
	members := "initLimit=20\nsyncLimit=20\n"
	for i, p := range ports {
		quorum := "127.0.0.1:" + p[0]
		if number == 0 && i != 0 {
			var err error
			if quorum, err = route(quorum); err != nil {
				return err
			}
		}
		members += fmt.Sprintf("server.%d=%s:%s\n", i+1, quorum, p[1])
	}
	if err := os.WriteFile(filepath.Join(z.dir, "myid"), fmt.Append(nil, number+1), 0o600); err != nil {
		return err
	}
	return z.configure(members)
}

func (e ensemble) Version() string { return e[0].version }

func (e ensemble) Addresses() []string {
	var all []string
	for _, z := range e {
		all = append(all, z.address)
	}
	return all
}

// Up starts the last two members at once, since one alone never gets ready, and
// then the first, which finds a leader.
func (e ensemble) Up() error {
	failed := make([]error, len(e))
	var wg sync.WaitGroup
	for i, z := range e[1:] {
		wg.Go(func() { failed[i] = z.Up() })
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return e[0].Up()
}

func (e ensemble) Down() {
	for _, z := range e {
		z.Down()
	}
}

func (e ensemble) Close() {
	for _, z := range e {
		z.Close()
	}
}
