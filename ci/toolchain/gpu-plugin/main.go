// A device plugin for nodes without GPUs: registers nvidia.com/gpu with as many devices as a file says.
//
//	gpu-plugin FILE
//
// The file holds a number; a missing one means none. Its directory and that of the kubelet's sockets are watched by
// inotify: a new number is reported at once, and a kubelet that restarts, which removes all sockets, is registered with
// again. The kubelet chooses the devices of a container, which finds their ids in NVIDIA_VISIBLE_DEVICES.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	resource   = "nvidia.com/gpu"
	socketName = "muster-gpus.sock"
	events     = syscall.IN_CLOSE_WRITE | syscall.IN_MOVED_TO | syscall.IN_CREATE | syscall.IN_DELETE
	retry      = time.Second // the kubelet is not there yet: its socket appears before it answers
)

type plugin struct {
	api.UnimplementedDevicePluginServer
	file    string
	mutex   sync.Mutex
	changed chan struct{} // closed, and replaced, when the file may have changed
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gpu-plugin FILE")
	}
	gpus := &plugin{file: os.Args[1], changed: make(chan struct{})}
	if err := os.MkdirAll(filepath.Dir(gpus.file), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll(api.DevicePluginPath, 0o750); err != nil {
		log.Fatal(err)
	}
	files, sockets := watch(filepath.Dir(gpus.file)), watch(api.DevicePluginPath)
	go func() {
		for range files {
			gpus.announce()
		}
	}()
	for {
		if err := gpus.serve(sockets); err != nil {
			log.Print(err)
			time.Sleep(retry)
		}
	}
}

// serve answers the kubelet until the plugin's socket is gone.
func (p *plugin) serve(sockets <-chan struct{}) error {
	path := filepath.Join(api.DevicePluginPath, socketName)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, p)
	go server.Serve(listener)
	defer server.Stop()
	if err := register(); err != nil {
		return err
	}
	log.Printf("%s is registered", resource)
	for range sockets {
		if _, err := os.Stat(path); err != nil {
			return nil // the kubelet has restarted
		}
	}
	return nil
}

func register() error {
	kubelet, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer kubelet.Close()
	within, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request := &api.RegisterRequest{Version: api.Version, Endpoint: socketName, ResourceName: resource}
	_, err = api.NewRegistrationClient(kubelet).Register(within, request)
	return err
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch sends the devices, and sends them again when their number changes.
func (p *plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	for last := -1; ; {
		changed := p.next()
		if count := p.count(); count != last {
			log.Printf("%d GPUs", count)
			if err := stream.Send(&api.ListAndWatchResponse{Devices: devices(count)}); err != nil {
				return err
			}
			last = count
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-changed:
		}
	}
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	response := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		ids := strings.Join(container.DevicesIds, ",")
		log.Printf("allocated %s", ids)
		environment := map[string]string{"NVIDIA_VISIBLE_DEVICES": ids}
		response.ContainerResponses = append(response.ContainerResponses, &api.ContainerAllocateResponse{Envs: environment})
	}
	return response, nil
}

func (p *plugin) count() int {
	content, err := os.ReadFile(p.file)
	if err != nil {
		return 0
	}
	count, err := strconv.Atoi(string(bytes.TrimSpace(content)))
	if err != nil || count < 0 {
		log.Printf("%s does not hold a number of GPUs: %q", p.file, content)
		return 0
	}
	return count
}

func devices(count int) []*api.Device {
	found := make([]*api.Device, 0, count)
	for number := range count {
		found = append(found, &api.Device{ID: fmt.Sprintf("gpu-%d", number), Health: api.Healthy})
	}
	return found
}

func (p *plugin) next() <-chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.changed
}

func (p *plugin) announce() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	close(p.changed)
	p.changed = make(chan struct{})
}

// watch sends when something in the directory has changed; several changes may be one.
func watch(directory string) <-chan struct{} {
	descriptor, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err == nil {
		_, err = syscall.InotifyAddWatch(descriptor, directory, events)
	}
	if err != nil {
		log.Fatalf("cannot watch %s: %v", directory, err)
	}
	changes := make(chan struct{}, 1)
	go func() {
		for buffer := make([]byte, 1<<14); ; {
			if _, err := syscall.Read(descriptor, buffer); err != nil && err != syscall.EINTR {
				log.Fatalf("cannot watch %s: %v", directory, err)
			}
			select {
			case changes <- struct{}{}:
			default:
			}
		}
	}()
	return changes
}
