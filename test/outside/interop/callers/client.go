// The client of core.py on grpc-go: the same options, the same lines.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

type told struct {
	Do, Path, Message string
	Times             int
}

type answer struct {
	Messages []string `json:"messages"`
	Error    string   `json:"error,omitempty"`
}

// Messages as they are.
type rawCodec struct{}

func (rawCodec) Marshal(v interface{}) ([]byte, error) { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v interface{}) error {
	*v.(*[]byte) = append([]byte{}, data...)
	return nil
}
func (rawCodec) Name() string { return "proto" }

var channel *grpc.ClientConn
var stream grpc.ClientStream

func ask(path string, message []byte, times int) ([]string, error) {
	within, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	type end struct {
		message []byte
		err     error
	}
	ends := make(chan end)
	for i := 0; i < times; i++ {
		go func() {
			var out []byte
			err := channel.Invoke(within, path, &message, &out)
			ends <- end{out, err}
		}()
	}
	messages := []string{}
	var failure error
	for i := 0; i < times; i++ {
		one := <-ends
		if one.err != nil {
			failure = one.err
		}
		messages = append(messages, hex.EncodeToString(one.message))
	}
	return messages, failure
}

func do(line told) ([]string, error) {
	message, err := hex.DecodeString(line.Message)
	if err != nil {
		return nil, err
	}
	none := []string{}
	switch line.Do {
	case "ask":
		return ask(line.Path, message, line.Times)
	case "open":
		what := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
		stream, err = channel.NewStream(context.Background(), what, line.Path)
		return none, err
	case "send":
		return none, stream.SendMsg(&message)
	case "end":
		return none, stream.CloseSend()
	}
	var out []byte
	err = stream.RecvMsg(&out)
	if err == io.EOF {
		return none, nil
	}
	return []string{hex.EncodeToString(out)}, err
}

func main() {
	security := grpc.WithInsecure()
	if len(os.Args) > 2 {
		tls, err := credentials.NewClientTLSFromFile(os.Args[2], "sut.test")
		if err != nil {
			panic(err)
		}
		security = grpc.WithTransportCredentials(tls)
	}
	codec := grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{}))
	var err error
	channel, err = grpc.Dial(os.Args[1], security, codec)
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16*1024*1024)
	for lines.Scan() {
		var line told
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			panic(err)
		}
		messages, err := do(line)
		out := answer{Messages: messages}
		if err != nil {
			out.Error = err.Error()
		}
		text, _ := json.Marshal(out)
		fmt.Println(string(text))
	}
}
