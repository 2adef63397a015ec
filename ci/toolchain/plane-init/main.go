// The first process of the container that holds a control plane: starts what it is told to, and ends with it.
//
// Each line on standard input is one program to start, as JSON: {"name": "etcd", "argv": ["/bin/etcd", "--flag"]}.
// Each line that a program writes goes to standard output with its name before it; "init etcd ended 1" says how one of
// them ended (negative: by that signal). The container lives as long as standard input is open and all programs run:
// whoever holds the other end may be killed without a word, and nothing stays. Ending is enough to stop the others,
// for the kernel takes everything in a container along with its first process.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const patience = time.Minute // with whoever started the container and then says nothing

type program struct {
	Name string   `json:"name"`
	Argv []string `json:"argv"`
}

var output sync.Mutex

func main() {
	orders, deaths, signals := make(chan program), make(chan int), make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go listen(orders)
	silence := time.After(patience)
	for {
		select {
		case order, open := <-orders:
			if !open {
				os.Exit(0)
			}
			silence = nil
			start(order, deaths)
		case code := <-deaths:
			os.Exit(code)
		case <-silence:
			say("init", "nobody has said what to start")
			os.Exit(1)
		case <-signals:
			os.Exit(0)
		}
	}
}

func listen(orders chan<- program) {
	defer close(orders)
	decoder := json.NewDecoder(os.Stdin)
	for {
		var order program
		if err := decoder.Decode(&order); err != nil {
			if err != io.EOF {
				say("init", fmt.Sprintf("not understood: %v", err))
			}
			return
		}
		orders <- order
	}
}

func start(order program, deaths chan<- int) {
	reading, writing, err := os.Pipe()
	if err != nil {
		fail(order.Name, err, deaths)
		return
	}
	command := exec.Command(order.Argv[0], order.Argv[1:]...)
	command.Stdout, command.Stderr = writing, writing
	if err := command.Start(); err != nil {
		fail(order.Name, err, deaths)
		return
	}
	writing.Close()
	go func() {
		lines := bufio.NewReader(reading)
		for {
			line, err := lines.ReadString('\n')
			if line != "" {
				say(order.Name, line)
			}
			if err != nil {
				break
			}
		}
		command.Wait()
		status := command.ProcessState.Sys().(syscall.WaitStatus)
		code := status.ExitStatus()
		if status.Signaled() {
			code = -int(status.Signal())
		}
		say("init", fmt.Sprintf("%s ended %d", order.Name, code))
		deaths <- 1
	}()
}

func fail(name string, err error, deaths chan<- int) {
	say(name, err.Error())
	say("init", fmt.Sprintf("%s ended 127", name))
	go func() { deaths <- 1 }()
}

func say(name, line string) {
	output.Lock()
	defer output.Unlock()
	if line[len(line)-1] != '\n' {
		line += "\n"
	}
	io.WriteString(os.Stdout, name+" "+line)
}
