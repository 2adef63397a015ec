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

const account = "/var/run/secrets/kubernetes.io/serviceaccount"

// dialWorker finds a worker by its name, else by its pod: a launcher that uses kubectl exec knows only pods.
func dialWorker(host string) net.Conn {
	port := strconv.Itoa(workerPort)
	if _, err := net.LookupHost(host); err == nil {
		return dial(net.JoinHostPort(host, port))
	}
	for tries := 0; ; tries++ {
		address, err := podAddress(host)
		if err == nil {
			return dial(net.JoinHostPort(address, port))
		}
		if tries%50 == 0 {
			say("waiting for the pod %s: %v", host, err)
		}
		time.Sleep(retryEvery)
	}
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
