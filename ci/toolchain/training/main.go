// A training process without the training, for containers on real nodes: whatever command a container names (sh, sleep,
// python, mpirun), this program runs, and takes its part from the environment that the operator has set.
//
//	MASTER_ADDR, MASTER_PORT, WORLD_SIZE, RANK   joins its peers over TCP, and exits with 1 when one is lost
//	OMPI_MCA_orte_default_hostfile               is a launcher: connects to the workers of the hostfile, fails with them
//	neither                                      runs alone; "sleep 30" ends after 30 s
//
// What its image or its pod declares: MUSTER_TRAINING=init ends at once, =steady goes on until it is told to end, also
// when its sleep is over or a peer is lost; MUSTER_ON_SIGTERM=ignore lets only SIGKILL end it. POST /exit?code=N on
// port 8099 ends it with that exit code.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	controlPort = 8099
	workerPort  = 8098 // where a launcher finds its workers
	terminated  = 128 + int(syscall.SIGTERM)
	stepEvery   = time.Second
)

func main() {
	command := strings.Join(os.Args, " ")
	if os.Getenv("MUSTER_TRAINING") == "init" {
		say("%s: nothing to prepare", command)
		return
	}
	host, _ := os.Hostname()
	say("%s on %s, GPUs: %s", command, host, os.Getenv("NVIDIA_VISIBLE_DEVICES"))
	team := newTeam()
	go obeySignals()
	go serveControl(team)
	switch hostfile := os.Getenv("OMPI_MCA_orte_default_hostfile"); {
	case hostfile != "":
		go team.launch(hostfile)
	case worldSize() > 1:
		go team.join(os.Getenv("MASTER_ADDR"), os.Getenv("MASTER_PORT"), rank(), worldSize())
	default:
		go team.listen(fmt.Sprintf(":%d", workerPort))
		close(team.complete)
	}
	end := sleeps()
	<-team.complete
	for step := 1; ; step++ {
		select {
		case <-end:
			team.leave(0)
		case <-time.After(stepEvery):
			say("step %d", step)
		}
	}
}

// sleeps is the end of a sleep; a process of any other name goes on until it is told to end.
func sleeps() <-chan time.Time {
	if filepath.Base(os.Args[0]) != "sleep" || len(os.Args) < 2 || steady() {
		return nil
	}
	text := os.Args[1]
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		number, _ := strconv.Atoi(days)
		return time.After(time.Duration(number) * 24 * time.Hour)
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return time.After(time.Duration(number * float64(time.Second)))
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		fail("sleep: %v", err)
	}
	return time.After(duration)
}

func obeySignals() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	for received := range signals {
		if os.Getenv("MUSTER_ON_SIGTERM") == "ignore" {
			say("%v: ignored", received)
			continue
		}
		say("%v: checkpoint written", received)
		os.Exit(terminated)
	}
}

// serveControl lets a scenario end this process: the API server passes its request on (pods/proxy).
func serveControl(team *team) {
	http.HandleFunc("POST /exit", func(answer http.ResponseWriter, request *http.Request) {
		code, err := strconv.Atoi(request.URL.Query().Get("code"))
		if err != nil || code < 0 || code > 255 {
			http.Error(answer, "code is a number from 0 to 255", http.StatusBadRequest)
			return
		}
		answer.Header().Set("Content-Type", "application/json")
		answer.Header().Set("Content-Length", "2") // so that the answer is complete when it is flushed
		fmt.Fprint(answer, "{}")
		answer.(http.Flusher).Flush()
		go team.leave(code)
	})
	err := http.ListenAndServe(fmt.Sprintf(":%d", controlPort), nil)
	fail("control: %v", err)
}

// steady: the scenario decides when this process ends, and how.
func steady() bool { return os.Getenv("MUSTER_TRAINING") == "steady" }

func rank() int {
	number, _ := strconv.Atoi(os.Getenv("RANK"))
	return number
}

func worldSize() int {
	number, _ := strconv.Atoi(os.Getenv("WORLD_SIZE"))
	return number
}

func say(format string, values ...any) { fmt.Printf(format+"\n", values...) }

func fail(format string, values ...any) {
	say(format, values...)
	os.Exit(1)
}
