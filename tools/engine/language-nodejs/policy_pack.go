package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// Fields of a request that this version of the protocol does not know yet.
const (
	infoField             protowire.Number = 5
	kindField             protowire.Number = 6
	programDirectoryField protowire.Number = 2
)

// runPolicyPack runs a policy pack until the engine ends the call.
func runPolicyPack(req *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer) error {
	unknown := req.ProtoReflect().GetUnknown()
	directory := string(fieldIn(fieldIn(unknown, infoField), programDirectoryField))
	if kind := string(fieldIn(unknown, kindField)); kind != "analyzer" || directory == "" {
		return fmt.Errorf("this language host runs only policy packs as plugins, not the kind %q", kind)
	}

	nodeBin, err := exec.LookPath("node")
	if err != nil {
		return fmt.Errorf("could not find node on the $PATH: %w", err)
	}
	// The policy pack has its own packages, so the SDK is not that of the program.
	resolve := exec.Command(nodeBin, "-p", "require.resolve('@pulumi/pulumi/cmd/run-policy-pack')")
	resolve.Dir = directory
	script, err := resolve.Output()
	if err != nil {
		return fmt.Errorf("the policy pack in %s has no @pulumi/pulumi. Run npm install in that directory", directory)
	}

	args := append([]string{strings.TrimSpace(string(script))}, req.Args...)
	// The engine ends the call to stop the policy pack, which ends the process.
	cmd := exec.CommandContext(server.Context(), nodeBin, append(args, directory)...)
	cmd.Dir, cmd.Env = directory, req.Env
	// Two goroutines copy the output of the process, and a stream can send only one message at a time.
	var sending sync.Mutex
	send := func(response *pulumirpc.RunPluginResponse) error {
		sending.Lock()
		defer sending.Unlock()
		return server.Send(response)
	}
	cmd.Stdout = output(func(text []byte) error {
		return send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: text}})
	})
	cmd.Stderr = output(func(text []byte) error {
		return send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: text}})
	})
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code := &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(exit.ExitCode())}
		return send(&pulumirpc.RunPluginResponse{Output: code})
	}
	if err != nil {
		return fmt.Errorf("could not run the policy pack in %s: %w", directory, err)
	}
	return nil
}

// output sends what is written to it.
type output func(text []byte) error

func (send output) Write(text []byte) (int, error) {
	return len(text), send(text)
}

// fieldIn returns the last value of a field with a length, or nil.
func fieldIn(message []byte, wanted protowire.Number) (found []byte) {
	for len(message) > 0 {
		number, kind, length := protowire.ConsumeTag(message)
		if length < 0 {
			return found
		}
		message = message[length:]
		if length = protowire.ConsumeFieldValue(number, kind, message); length < 0 {
			return found
		}
		if number == wanted && kind == protowire.BytesType {
			found, _ = protowire.ConsumeBytes(message)
		}
		message = message[length:]
	}
	return found
}
