// The C++ gRPC pair of `npm run bench -- tail`: unary calls under an open load.
//
//   open-loop server RESPONSE_BYTES                          prints its port, serves until stdin ends
//   open-loop client PORT SIZE SAMPLES DUE_FILE TIMES_FILE   issues a call at each due time
//
// Both ends are asynchronous and take messages as bytes, without protobuf. The server has one thread and one completion queue. The
// client has a thread that sleeps until each due time and issues, and one that receives. DUE_FILE holds the due times
// as doubles, in ns since the begin. TIMES_FILE gets doubles: the begin in ms since the epoch, then scheduled, issued
// and completed of all calls, in ns since the begin.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <time.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

namespace {

const char kMethod[] = "/longhaul.bench.Bytes/Unary";

grpc::ByteBuffer bytes_of(size_t size, char value) {
  const std::string text(size, value);
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

// ------------------------------------------------------------------------------------------------ server

struct Serving {
  grpc::AsyncGenericService service;
  grpc::ServerCompletionQueue* queue = nullptr;
  grpc::ByteBuffer response;
};

// Takes one call after the other: waits for it, reads its message, answers.
class Answering {
 public:
  explicit Answering(Serving* serving) : serving_(serving) { listen(); }

  void proceed(bool ok) {
    switch (state_) {
      case State::kListening:
        if (!ok) return;  // The server ends.
        state_ = State::kReading;
        stream_->Read(&request_, this);
        return;
      case State::kReading:
        state_ = State::kAnswering;
        if (ok) {
          stream_->WriteAndFinish(serving_->response, grpc::WriteOptions(), grpc::Status::OK, this);
        } else {
          stream_->Finish(grpc::Status::CANCELLED, this);
        }
        return;
      case State::kAnswering:
        listen();
    }
  }

 private:
  enum class State { kListening, kReading, kAnswering };

  void listen() {
    state_ = State::kListening;
    request_.Clear();
    stream_.reset();
    context_ = std::make_unique<grpc::GenericServerContext>();
    stream_ = std::make_unique<grpc::GenericServerAsyncReaderWriter>(context_.get());
    serving_->service.RequestCall(context_.get(), stream_.get(), serving_->queue, serving_->queue,
                                  this);
  }

  Serving* const serving_;
  State state_ = State::kListening;
  std::unique_ptr<grpc::GenericServerContext> context_;
  std::unique_ptr<grpc::GenericServerAsyncReaderWriter> stream_;
  grpc::ByteBuffer request_;
};

int serve(size_t response_bytes) {
  Serving serving;
  serving.response = bytes_of(response_bytes, '\0');
  grpc::ServerBuilder builder;
  int port = 0;
  builder.SetMaxReceiveMessageSize(-1);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterAsyncGenericService(&serving.service);
  auto queue = builder.AddCompletionQueue();
  serving.queue = queue.get();
  auto server = builder.BuildAndStart();
  std::vector<std::unique_ptr<Answering>> calls;
  for (int i = 0; i < 512; ++i) calls.push_back(std::make_unique<Answering>(&serving));
  std::printf("%d\n", port);
  std::fflush(stdout);
  // The benchmark ends, in whatever way: stdin is closed then.
  std::thread([] {
    while (std::getchar() != EOF) {
    }
    std::_Exit(0);
  }).detach();
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<Answering*>(tag)->proceed(ok);
  return 0;
}

// ------------------------------------------------------------------------------------------------ client

struct Call {
  size_t id;
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  grpc::Status status;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
};

std::vector<double> read_numbers(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<double> numbers(static_cast<size_t>(file.tellg()) / sizeof(double));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(numbers.data()), numbers.size() * sizeof(double));
  return numbers;
}

void append(std::ofstream& file, const std::vector<double>& numbers) {
  file.write(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
}

// To the instant itself: std::this_thread sleeps for what is left, and is late by what passes before that.
void sleep_until(Clock::time_point instant) {
  const auto since_epoch = std::chrono::nanoseconds(instant.time_since_epoch()).count();
  const timespec due{static_cast<time_t>(since_epoch / 1'000'000'000), since_epoch % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
}

// Takes responses until all calls have theirs, and notes when each was there.
void receive(grpc::CompletionQueue& queue, Clock::time_point begin, std::vector<double>& completed) {
  void* tag = nullptr;
  bool ok = false;
  for (size_t i = 0; i < completed.size() && queue.Next(&tag, &ok); ++i) {
    const std::unique_ptr<Call> call(static_cast<Call*>(tag));
    completed[call->id] = Nanoseconds(Clock::now() - begin).count();
    if (call->status.ok()) continue;
    std::fprintf(stderr, "%s\n", call->status.error_message().c_str());
    std::_Exit(1);
  }
}

int run_client(const std::string& port, size_t size, size_t samples, const char* due_file,
               const char* times_file) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  auto channel = grpc::CreateCustomChannel("127.0.0.1:" + port, grpc::InsecureChannelCredentials(),
                                           arguments);
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  std::vector<grpc::ByteBuffer> library;
  for (size_t i = 0; i < samples; ++i) library.push_back(bytes_of(size, static_cast<char>(i)));
  const std::vector<double> due = read_numbers(due_file);
  std::vector<double> issued(due.size()), completed(due.size());
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10))) {
    std::fprintf(stderr, "no connection\n");
    return 1;
  }
  const auto begin = Clock::now();
  const double begin_ms = std::chrono::duration<double, std::milli>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count();
  std::thread receiver([&] { receive(queue, begin, completed); });
  for (size_t id = 0; id < due.size(); ++id) {
    sleep_until(begin + std::chrono::duration_cast<Clock::duration>(Nanoseconds(due[id])));
    issued[id] = Nanoseconds(Clock::now() - begin).count();
    auto* call = new Call{id, {}, {}, {}, nullptr};
    call->reader = stub.PrepareUnaryCall(&call->context, kMethod, library[id % samples], &queue);
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, call);
  }
  receiver.join();
  std::ofstream file(times_file, std::ios::binary);
  append(file, {begin_ms});
  append(file, due);
  append(file, issued);
  append(file, completed);
  file.close();
  return file.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  int code = 2;
  if (mode == "server" && argc == 3) {
    code = serve(std::strtoul(argv[2], nullptr, 10));
  } else if (mode == "client" && argc == 7) {
    code = run_client(argv[2], std::strtoul(argv[3], nullptr, 10),
                      std::strtoul(argv[4], nullptr, 10), argv[5], argv[6]);
  } else {
    std::fprintf(stderr, "usage: see the head of open-loop.cc\n");
  }
  std::fflush(stdout);
  // Channels that are still closing are of no interest.
  std::_Exit(code);
}
