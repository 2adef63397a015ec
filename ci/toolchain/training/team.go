package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	retryEvery = 200 * time.Millisecond // a peer has no address or does not listen yet
	silence    = 15 * time.Second       // a peer that says nothing for so long is lost: it says something every second
	goodbye    = "bye"
	farewell   = 100 * time.Millisecond // for the last answer and the last words to leave
)

// team is this process and its peers. Each connection carries a line per step in both directions, and "bye" before an
// end with exit code 0: a connection that ends without it is a lost peer.
type team struct {
	mutex    sync.Mutex
	peers    []net.Conn
	complete chan struct{} // closed when all peers are there
}

func newTeam() *team { return &team{complete: make(chan struct{})} }

// join is the rendezvous of torch.distributed: all other ranks connect to rank 0.
func (t *team) join(address, port string, rank, size int) {
	if rank != 0 {
		t.add(dial(net.JoinHostPort(address, port)), "rank 0")
		close(t.complete)
		return
	}
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		fail("rendezvous: %v", err)
	}
	for found := 1; found < size; found++ {
		peer, err := listener.Accept()
		if err != nil {
			fail("rendezvous: %v", err)
		}
		t.add(peer, peer.RemoteAddr().String())
	}
	say("all %d ranks have joined", size)
	close(t.complete)
}

// launch connects to each worker of a hostfile, as mpirun starts a process on each.
func (t *team) launch(hostfile string) {
	content, err := os.ReadFile(hostfile)
	if err != nil {
		fail("mpirun: %v", err)
	}
	for line := range strings.Lines(string(content)) {
		host, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		host, _, _ = strings.Cut(host, ":")
		if host == "" {
			continue
		}
		if worker := dialWorker(host); worker != nil {
			t.add(worker, host)
		}
	}
	say("all workers of %s are reached", hostfile)
	close(t.complete)
}

func (t *team) listen(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fail("%v", err)
	}
	for {
		peer, err := listener.Accept()
		if err != nil {
			fail("%v", err)
		}
		t.addQuietly(peer)
	}
}

// add follows a peer without which this process cannot go on.
func (t *team) add(peer net.Conn, name string) {
	say("connected to %s", name)
	t.remember(peer)
	go tell(peer)
	go func() {
		if err := hear(peer); err != nil {
			lose("peer lost: %s: %v", name, err)
		}
	}()
}

// addQuietly answers a launcher: a worker outlives it.
func (t *team) addQuietly(peer net.Conn) {
	t.remember(peer)
	go tell(peer)
	go hear(peer)
}

func (t *team) remember(peer net.Conn) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.peers = append(t.peers, peer)
}

// leave ends this process; with exit code 0 its peers do not count it as lost.
func (t *team) leave(code int) {
	say("ends with exit code %d", code)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if code == 0 {
		for _, peer := range t.peers {
			fmt.Fprintln(peer, goodbye)
		}
	}
	time.Sleep(farewell)
	os.Exit(code)
}

// lose ends this process, which cannot go on without all its peers, unless it is steady.
func lose(format string, values ...any) {
	if !steady() {
		fail(format, values...)
	}
	say(format, values...)
}

func tell(peer net.Conn) {
	for step := 0; ; step++ {
		if _, err := fmt.Fprintf(peer, "step %d\n", step); err != nil {
			return // whoever hears this peer notices, too
		}
		time.Sleep(stepEvery)
	}
}

// hear returns when the peer has said goodbye, or why it is lost.
func hear(peer net.Conn) error {
	lines := bufio.NewReader(peer)
	for {
		peer.SetReadDeadline(time.Now().Add(silence))
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == goodbye {
			return nil
		}
	}
}

func dial(address string) net.Conn {
	for tries := 0; ; tries++ {
		peer, err := net.DialTimeout("tcp", address, silence)
		if err == nil {
			return peer
		}
		if tries%50 == 0 {
			say("waiting for %s: %v", address, err)
		}
		time.Sleep(retryEvery)
	}
}
