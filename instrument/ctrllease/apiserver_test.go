package ctrllease

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// apiServer keeps Leases and takes events, within the transport of its clients:
// so it works on a virtual clock. It refuses old versions as the real one does.
type apiServer struct {
	mu       sync.Mutex
	leases   map[string]*coordinationv1.Lease
	version  int
	requests []request
	fault    func(*http.Request) error // an APIStatus is an answer; nil: none
}

// request is one that was made, and what does not depend on the run.
type request struct {
	at                                    time.Time
	method, path, userAgent, accept, body string
}

func newAPIServer() *apiServer { return &apiServer{leases: map[string]*coordinationv1.Lease{}} }

func (s *apiServer) config() *rest.Config { return &rest.Config{Host: "http://cluster", Transport: s} }

// fail makes requests fail, except those for events; nil heals them.
func (s *apiServer) fail(fault func(*http.Request) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// silent answers when the caller gives up.
func silent(r *http.Request) error {
	<-r.Context().Done()
	return r.Context().Err()
}

func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.requests = append(s.requests, request{time.Now(), r.Method, r.URL.RequestURI(), r.UserAgent(), r.Header.Get("Accept"), text(body)})
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && !strings.Contains(r.URL.Path, "/events") {
		if err := fault(r); err != nil {
			var status apierrors.APIStatus
			if !errors.As(err, &status) {
				return nil, err
			}
			return answer(r, int(status.Status().Code), status.Status()), nil
		}
	}
	return s.serve(r, body), nil
}

// text is a body without what is new in each run.
func text(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return string(body)
	}
	out, _ := json.Marshal(object)
	return uuid.ReplaceAllString(string(out), "UUID")
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (s *apiServer) serve(r *http.Request, body []byte) *http.Response {
	object, kind, err := decode(body)
	if err != nil {
		return answer(r, http.StatusBadRequest, apierrors.NewBadRequest(err.Error()).Status())
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := parts[len(parts)-1]
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.Contains(r.URL.Path, "/events"):
		if kind != "Event" {
			object = &corev1.Event{}
		}
		return answer(r, http.StatusCreated, object)
	case r.Method == http.MethodPost && last == "leases":
		return s.create(r, object.(*coordinationv1.Lease))
	case r.Method == http.MethodGet && len(parts) == 7 && parts[5] == "leases":
		if l, ok := s.leases[last]; ok {
			return answer(r, http.StatusOK, l)
		}
		return answer(r, http.StatusNotFound, apierrors.NewNotFound(leases, last).Status())
	case r.Method == http.MethodPut && len(parts) == 7 && parts[5] == "leases":
		return s.update(r, object.(*coordinationv1.Lease))
	}
	return answer(r, http.StatusNotFound, apierrors.NewNotFound(schema.GroupResource{Resource: r.URL.Path}, "").Status())
}

func decode(body []byte) (runtime.Object, string, error) {
	if len(body) == 0 {
		return nil, "", nil
	}
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, "", err
	}
	return object, kind.Kind, nil
}

func (s *apiServer) create(r *http.Request, l *coordinationv1.Lease) *http.Response {
	if _, there := s.leases[l.Name]; there {
		return answer(r, http.StatusConflict, apierrors.NewAlreadyExists(leases, l.Name).Status())
	}
	return answer(r, http.StatusCreated, s.store(l))
}

func (s *apiServer) update(r *http.Request, l *coordinationv1.Lease) *http.Response {
	have, there := s.leases[l.Name]
	switch {
	case !there:
		return answer(r, http.StatusNotFound, apierrors.NewNotFound(leases, l.Name).Status())
	case have.ResourceVersion != l.ResourceVersion:
		return answer(r, http.StatusConflict, apierrors.NewConflict(leases, l.Name, fmt.Errorf("it is version %s", have.ResourceVersion)).Status())
	}
	return answer(r, http.StatusOK, s.store(l))
}

func (s *apiServer) store(l *coordinationv1.Lease) *coordinationv1.Lease {
	s.version++
	l.ResourceVersion = strconv.Itoa(s.version)
	l.APIVersion, l.Kind = coordinationv1.SchemeGroupVersion.String(), "Lease"
	s.leases[l.Name] = l.DeepCopy()
	return l
}

// edit changes the Lease behind the managers' backs.
func (s *apiServer) edit(t testing.TB, name string, change func(*coordinationv1.Lease)) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	l, there := s.leases[name]
	if !there {
		t.Fatalf("no Lease %s", name)
	}
	change(l)
	s.store(l)
}

func (s *apiServer) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leases, name)
}

// holder is that of the Lease.
func (s *apiServer) holder(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, there := s.leases[name]; there && l.Spec.HolderIdentity != nil {
		return *l.Spec.HolderIdentity
	}
	return ""
}

// made returns the requests whose path contains part.
func (s *apiServer) made(part string) (made []request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.Contains(r.path, part) {
			made = append(made, r)
		}
	}
	return made
}

func answer(r *http.Request, code int, object any) *http.Response {
	if status, ok := object.(metav1.Status); ok {
		status.APIVersion, status.Kind = "v1", "Status"
		object = status
	}
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}
