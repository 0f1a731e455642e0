package main

import (
	"fmt"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/text/language"
	"golang.org/x/tools/go/packages"
	"google.golang.org/grpc"
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/types"
)

func main() {
	text, err := yaml.Marshal(types.NamespacedName{Name: uuid.NewString()})
	fmt.Println(string(text), err, grpc.Version, language.English, packages.NeedName, &cobra.Command{}, prometheus.NewRegistry(), logr.Discard())
}
