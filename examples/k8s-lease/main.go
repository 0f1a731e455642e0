//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
)

// binaryVariable is where a kube-apiserver is, instead of --kube-apiserver.
const binaryVariable = "KUBE_APISERVER"

// errNoServer says how to have one. KUBECONFIG is not looked at: a show should
// not write to a cluster that was not named.
var errNoServer = errors.New("no Kubernetes API server: name a cluster with --kubeconfig FILE, or a kube-apiserver to start with " +
	"--kube-apiserver FILE or " + binaryVariable + " (scripts/build-kube-apiserver v1.37.2 DIR builds one)")

func main() {
	klog.SetLogger(klog.Logger{}) // the show has its own words
	stage.Main("k8s-lease", nil, func(ctx context.Context) error {
		if stage.IsNode() {
			return runNode(ctx, os.Args[1:])
		}
		o, keep, err := parseFlags(os.Args[1:], os.Getenv(binaryVariable), os.Stderr)
		if err != nil {
			return err
		}
		return show(ctx, o, keep)
	})
}

// options say where the API server is; one of the first two is set.
type options struct {
	kubeconfig string // of a cluster that is there
	binary     string // kube-apiserver, to be started
	namespace  string
}

// parseFlags reads the command line; binary is what the environment says.
func parseFlags(args []string, binary string, out io.Writer) (o options, keep bool, err error) {
	flags := flag.NewFlagSet("k8s-lease", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "a cluster to use; a Lease is made there and removed at the end")
	flags.StringVar(&o.binary, "kube-apiserver", binary, "a kube-apiserver to start; default $"+binaryVariable)
	flags.StringVar(&o.namespace, "namespace", metav1.NamespaceDefault, "where the Lease is made")
	flags.BoolVar(&keep, "keep", false, "leave the nodes running at the end, to inspect their /metrics")
	if err := flags.Parse(args); err != nil {
		return o, false, err
	}
	switch {
	case flags.NArg() > 0:
		return o, false, fmt.Errorf("%q: unexpected argument; -help lists the flags", flags.Arg(0))
	case o.kubeconfig != "":
		o.binary = ""
	case o.binary == "":
		return o, false, errNoServer
	default:
		if _, err := exec.LookPath(o.binary); err != nil {
			return o, false, fmt.Errorf("--kube-apiserver %s is not an executable program: %w", o.binary, errors.Unwrap(err))
		}
	}
	return o, keep, nil
}
