// Package deploy renders the manifests of leader-observer as their users do: the
// chart with Helm, the base and what stands beside it with Kustomize.
package deploy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Where the manifests are, seen from a folder of this module.
const (
	Chart = "../../cmd/leader-observer/chart"
	Base  = "../../cmd/leader-observer/deploy"
)

// Name is that of the release and its namespace, as docs/observer.md installs it.
const Name = "leader-observer"

// Helm renders the chart with values on top of its own, as helm install does,
// and returns one document for each object. What is wrong with a value is an
// error of the chart's schema.
func Helm(values string) ([][]byte, error) {
	chart, err := loader.LoadDir(Chart)
	if err != nil {
		return nil, err
	}
	given, err := loader.LoadValues(strings.NewReader(values))
	if err != nil {
		return nil, err
	}
	release := common.ReleaseOptions{Name: Name, Namespace: Name, IsInstall: true}
	all, err := util.ToRenderValues(chart, given, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	var documents [][]byte
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		of, err := split([]byte(files[name]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		documents = append(documents, of...)
	}
	return documents, nil
}

// Kustomize builds a folder, as kubectl apply -k does, and returns one document
// for each object.
func Kustomize(dir string) ([][]byte, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	return split(text)
}

// split cuts a stream into its documents, without those that are empty.
func split(text []byte) (documents [][]byte, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		var content any
		if err := yaml.Unmarshal(document, &content); err != nil {
			return nil, fmt.Errorf("%w in:\n%s", err, document)
		}
		if content != nil {
			documents = append(documents, document)
		}
	}
}
