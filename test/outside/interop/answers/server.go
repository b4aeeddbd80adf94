// A server of the Open Inference Protocol on grpc-go. It knows no messages: what it answers to control calls stands in its
// options, and ModelInfer gets back the id and the first raw contents of the request behind a given beginning.
//
// Usage: server OPTIONS, a JSON object: control (hex by method), beginning (hex), failEvery (0: none; else every so many calls end
// with INTERNAL behind their answer), gapMs (between answer and status). Prints {"port"}, and {"calls", "failed"} at its end.
package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var options struct {
	Control   map[string]string
	Beginning string
	FailEvery int
	GapMs     int
}

var lock sync.Mutex
var seen = struct {
	Calls  int      `json:"calls"`
	Failed []string `json:"failed"`
}{Failed: []string{}}

// Messages as they are.
type rawCodec struct{}

func (rawCodec) Marshal(v interface{}) ([]byte, error) { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v interface{}) error {
	*v.(*[]byte) = append([]byte{}, data...)
	return nil
}
func (rawCodec) String() string { return "proto" }

// Id (3) and first raw contents (7) of a ModelInferRequest.
func fieldsOf(message []byte) (id, contents []byte) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		message = message[n:]
		length, n := binary.Uvarint(message)
		message = message[n:]
		if tag&7 != 2 {
			continue
		}
		if tag>>3 == 3 {
			id = message[:length]
		} else if tag>>3 == 7 && contents == nil {
			contents = message[:length]
		}
		message = message[length:]
	}
	return
}

func field(number int, bytes []byte) []byte {
	head := make([]byte, 12)
	n := binary.PutUvarint(head, uint64(number<<3|2))
	n += binary.PutUvarint(head[n:], uint64(len(bytes)))
	return append(head[:n], bytes...)
}

func infer(_ interface{}, stream grpc.ServerStream) error {
	var request []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	id, contents := fieldsOf(request)
	answer, _ := hex.DecodeString(options.Beginning)
	answer = append(append(answer, field(3, id)...), field(6, contents)...)
	lock.Lock()
	seen.Calls++
	fails := options.FailEvery > 0 && seen.Calls%options.FailEvery == 0
	if fails {
		seen.Failed = append(seen.Failed, hex.EncodeToString(contents))
	}
	lock.Unlock()
	if err := stream.SendMsg(&answer); err != nil {
		return err
	}
	time.Sleep(time.Duration(options.GapMs) * time.Millisecond)
	if fails {
		return status.Error(codes.Internal, "broken")
	}
	return nil
}

func control(answer string) grpc.StreamHandler {
	bytes, _ := hex.DecodeString(answer)
	return func(_ interface{}, stream grpc.ServerStream) error {
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		return stream.SendMsg(&bytes)
	}
}

func main() {
	if err := json.Unmarshal([]byte(os.Args[1]), &options); err != nil {
		panic(err)
	}
	service := grpc.ServiceDesc{
		ServiceName: "inference.GRPCInferenceService",
		HandlerType: (*interface{})(nil),
		Streams:     []grpc.StreamDesc{{StreamName: "ModelInfer", Handler: infer, ServerStreams: true}},
	}
	for name, answer := range options.Control {
		one := grpc.StreamDesc{StreamName: name, Handler: control(answer), ServerStreams: true}
		service.Streams = append(service.Streams, one)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer(grpc.CustomCodec(rawCodec{}))
	server.RegisterService(&service, struct{}{})
	fmt.Printf("{\"port\": %d}\n", listener.Addr().(*net.TCPAddr).Port)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		lock.Lock()
		text, _ := json.Marshal(seen)
		fmt.Println(string(text))
		os.Exit(0)
	}()
	panic(server.Serve(listener))
}
