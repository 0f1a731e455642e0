package server

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/embed"
)

// etcd is a cluster inside this process.
type etcd struct {
	dir     string
	configs []*embed.Config
	members []*embed.Etcd
}

func startEtcd(members int) (Server, error) {
	dir, err := workdir("etcd")
	if err != nil {
		return nil, err
	}
	e := &etcd{dir: dir}
	var cluster []string
	for i := range members {
		cfg, err := etcdConfig(dir, fmt.Sprintf("member-%d", i))
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		cluster = append(cluster, cfg.Name+"="+cfg.ListenPeerUrls[0].String())
		e.configs = append(e.configs, cfg)
	}
	for _, cfg := range e.configs {
		cfg.InitialCluster = strings.Join(cluster, ",")
	}
	if err := e.Up(); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func etcdConfig(dir, name string) (*embed.Config, error) {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = name, filepath.Join(dir, name)
	cfg.LogLevel = "fatal"
	cfg.UnsafeNoFsync = true
	for _, urls := range []struct{ listen, advertise *[]url.URL }{
		{&cfg.ListenClientUrls, &cfg.AdvertiseClientUrls},
		{&cfg.ListenPeerUrls, &cfg.AdvertisePeerUrls},
	} {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		u := []url.URL{{Scheme: "http", Host: "127.0.0.1:" + port}}
		*urls.listen, *urls.advertise = u, u
	}
	return cfg, nil
}

func (e *etcd) Version() string { return version.Version }

func (e *etcd) Addresses() []string {
	var all []string
	for _, cfg := range e.configs {
		all = append(all, cfg.ListenClientUrls[0].Host)
	}
	return all
}

// Up starts all members at once, since one alone never gets ready.
func (e *etcd) Up() error {
	e.members = make([]*embed.Etcd, len(e.configs))
	failed := make([]error, len(e.configs))
	var wg sync.WaitGroup
	for i, cfg := range e.configs {
		wg.Go(func() {
			member, err := embed.StartEtcd(cfg)
			if err != nil {
				failed[i] = err
				return
			}
			e.members[i] = member
			select {
			case <-member.Server.ReadyNotify():
			case <-time.After(patience):
				failed[i] = fmt.Errorf("%s is not ready after %v", cfg.Name, patience)
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}

func (e *etcd) Down() {
	var wg sync.WaitGroup
	for _, member := range e.members {
		if member != nil {
			wg.Go(member.Close)
		}
	}
	wg.Wait()
	e.members = nil
}

func (e *etcd) Close() {
	e.Down()
	_ = os.RemoveAll(e.dir)
}
