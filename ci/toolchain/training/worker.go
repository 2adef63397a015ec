package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	account     = "/var/run/secrets/kubernetes.io/serviceaccount"
	reachWithin = 5 * time.Second
)

// dialWorker finds a worker by its name, else by its pod: a launcher that uses kubectl exec knows only pods. Workers run
// before their launcher is created: one that cannot be reached is lost, and there is no connection.
func dialWorker(host string) net.Conn {
	var err error
	for deadline := time.Now().Add(reachWithin); time.Now().Before(deadline); time.Sleep(retryEvery) {
		address := host
		if _, unknown := net.LookupHost(host); unknown != nil {
			if address, err = podAddress(host); err != nil {
				continue
			}
		}
		var worker net.Conn
		if worker, err = net.DialTimeout("tcp", net.JoinHostPort(address, strconv.Itoa(workerPort)), reachWithin); err == nil {
			return worker
		}
	}
	lose("worker %s cannot be reached: %v", host, err)
	return nil
}

// podAddress asks the API server, with the rights of the launcher's service account.
func podAddress(pod string) (string, error) {
	token, err := os.ReadFile(filepath.Join(account, "token"))
	if err != nil {
		return "", err
	}
	namespace, err := os.ReadFile(filepath.Join(account, "namespace"))
	if err != nil {
		return "", err
	}
	authority, err := os.ReadFile(filepath.Join(account, "ca.crt"))
	if err != nil {
		return "", err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{
		Timeout:   silence,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
	}
	server := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	url := fmt.Sprintf("https://%s/api/v1/namespaces/%s/pods/%s", server, namespace, pod)
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var found struct {
		Status struct{ PodIP string }
	}
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the API server answers %s", answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		return "", err
	}
	if found.Status.PodIP == "" {
		return "", fmt.Errorf("it has no address yet")
	}
	return found.Status.PodIP, nil
}
