// The C++ gRPC peer of `npm run bench -- wire`: what the whole path of longhaul is compared with.
//
//   peer server RESPONSE_BYTES                    prints its port, serves until stdin ends
//   peer unary|bidi PORT SERVER_PID SIZE SAMPLES OUTSTANDING WARM_UP_S SECONDS
//
// Queries take SAMPLES payloads in turn, made before. Both ends use one thread and one completion queue. The client keeps OUTSTANDING calls (unary) or messages of
// one stream (bidi) under way and prints one line of JSON.

#include <grpcpp/grpcpp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "echo.grpc.pb.h"

using longhaul::bench::Echo;
using longhaul::bench::Payload;
using Clock = std::chrono::steady_clock;

namespace {

double now_s() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// CPU time of this process in microseconds.
double own_cpu_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec +
         usage.ru_stime.tv_usec;
}

// CPU time of another process in microseconds, as coarse as the kernel's ticks.
double cpu_us_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) * 1e6 / sysconf(_SC_CLK_TCK);
}

// Counts what completes between the end of the warm-up and the end of the measurement.
class Window {
 public:
  Window(double warm_up_s, double seconds, std::string server_pid)
      : server_pid_(std::move(server_pid)),
        begin_s_(now_s() + warm_up_s),
        end_s_(begin_s_ + seconds) {}

  // Notes a completion. False when the measurement is over.
  bool completed(double issued_s) {
    const double at_s = now_s();
    if (is_over_) return false;
    if (!has_begun_ && at_s >= begin_s_) {
      has_begun_ = true;
      begin_s_ = at_s;
      cpu_us_ = own_cpu_us();
      server_cpu_us_ = cpu_us_of(server_pid_);
    } else if (has_begun_) {
      latencies_us_.push_back((at_s - issued_s) * 1e6);
      if (at_s >= end_s_) finish(at_s);
    }
    return !is_over_;
  }

  void print() {
    std::sort(latencies_us_.begin(), latencies_us_.end());
    const size_t n = latencies_us_.size();
    std::printf(
        "{\"queries\":%zu,\"seconds\":%.6f,\"clientCpuUs\":%.0f,\"serverCpuUs\":%.0f,"
        "\"p50Us\":%.3f,\"p99Us\":%.3f}\n",
        n, end_s_ - begin_s_, cpu_us_, server_cpu_us_, latencies_us_[n / 2],
        latencies_us_[n * 99 / 100]);
  }

 private:
  void finish(double at_s) {
    is_over_ = true;
    end_s_ = at_s;
    cpu_us_ = own_cpu_us() - cpu_us_;
    server_cpu_us_ = cpu_us_of(server_pid_) - server_cpu_us_;
  }

  const std::string server_pid_;
  double begin_s_;
  double end_s_;
  bool has_begun_ = false;
  bool is_over_ = false;
  double cpu_us_ = 0;
  double server_cpu_us_ = 0;
  std::vector<double> latencies_us_;
};

// ------------------------------------------------------------------------------------------------ server

// Whatever waits in a completion queue.
struct Waiter {
  virtual ~Waiter() = default;
  virtual void proceed(bool ok) = 0;
};

struct Serving {
  Echo::AsyncService service;
  grpc::ServerCompletionQueue* queue;
  Payload response;
};

class UnaryServing : public Waiter {
 public:
  explicit UnaryServing(Serving* serving) : serving_(serving) { listen(); }

  void proceed(bool ok) override {
    if (is_answered_) {
      listen();
    } else if (ok) {
      is_answered_ = true;
      writer_->Finish(serving_->response, grpc::Status::OK, this);
    }
  }

 private:
  void listen() {
    is_answered_ = false;
    writer_.reset();
    context_ = std::make_unique<grpc::ServerContext>();
    writer_ = std::make_unique<grpc::ServerAsyncResponseWriter<Payload>>(context_.get());
    serving_->service.RequestUnary(context_.get(), &request_, writer_.get(), serving_->queue,
                                   serving_->queue, this);
  }

  Serving* const serving_;
  std::unique_ptr<grpc::ServerContext> context_;
  std::unique_ptr<grpc::ServerAsyncResponseWriter<Payload>> writer_;
  Payload request_;
  bool is_answered_ = false;
};

// One stream: reads all the time, and writes one response per message read.
class StreamServing {
 public:
  explicit StreamServing(Serving* serving)
      : serving_(serving), stream_(&context_), begun_(this), read_(this), written_(this) {
    serving_->service.RequestStream(&context_, &stream_, serving_->queue, serving_->queue, &begun_);
  }

 private:
  struct Begun : Waiter {
    explicit Begun(StreamServing* stream) : stream(stream) {}
    void proceed(bool ok) override {
      if (!ok) return;
      new StreamServing(stream->serving_);
      stream->stream_.Read(&stream->request_, &stream->read_);
    }
    StreamServing* const stream;
  };
  struct Read : Waiter {
    explicit Read(StreamServing* stream) : stream(stream) {}
    void proceed(bool ok) override { stream->has_read(ok); }
    StreamServing* const stream;
  };
  struct Written : Waiter {
    explicit Written(StreamServing* stream) : stream(stream) {}
    void proceed(bool ok) override { stream->has_written(ok); }
    StreamServing* const stream;
  };

  void has_read(bool ok) {
    if (!ok) {
      is_ended_ = true;
      if (!is_writing_) finish();
      return;
    }
    owed_ += 1;
    stream_.Read(&request_, &read_);
    if (!is_writing_) write();
  }

  void has_written(bool ok) {
    if (is_finished_) return;
    is_writing_ = false;
    if (!ok) owed_ = 0;
    if (owed_ > 0) {
      write();
    } else if (is_ended_) {
      finish();
    }
  }

  void write() {
    owed_ -= 1;
    is_writing_ = true;
    stream_.Write(serving_->response, &written_);
  }

  // The peer of a benchmark opens a handful of streams: what is left of them stays until the end.
  void finish() {
    is_finished_ = true;
    stream_.Finish(grpc::Status::OK, &written_);
  }

  Serving* const serving_;
  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<Payload, Payload> stream_;
  Payload request_;
  Begun begun_;
  Read read_;
  Written written_;
  int owed_ = 0;
  bool is_writing_ = false;
  bool is_ended_ = false;
  bool is_finished_ = false;
};

int serve(size_t response_bytes) {
  Serving serving;
  serving.response.set_payload(std::string(response_bytes, '\0'));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.SetMaxReceiveMessageSize(-1);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&serving.service);
  auto queue = builder.AddCompletionQueue();
  serving.queue = queue.get();
  auto server = builder.BuildAndStart();
  std::vector<std::unique_ptr<UnaryServing>> calls;
  for (int i = 0; i < 512; ++i) calls.push_back(std::make_unique<UnaryServing>(&serving));
  new StreamServing(&serving);
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
  while (queue->Next(&tag, &ok)) static_cast<Waiter*>(tag)->proceed(ok);
  return 0;
}

// ------------------------------------------------------------------------------------------------ client

struct Job {
  std::shared_ptr<grpc::Channel> channel;
  std::vector<Payload> requests;
  int outstanding;
  Window window;
  size_t issued = 0;

  const Payload& next_request() { return requests[issued++ % requests.size()]; }
};

struct UnaryCall {
  std::unique_ptr<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Payload>> reader;
  Payload response;
  grpc::Status status;
  double issued_s = 0;
};

int run_unary(Job& job) {
  auto stub = Echo::NewStub(job.channel);
  grpc::CompletionQueue queue;
  std::vector<UnaryCall> calls(job.outstanding);
  const auto issue = [&](UnaryCall& call) {
    call.reader.reset();
    call.context = std::make_unique<grpc::ClientContext>();
    call.issued_s = now_s();
    call.reader = stub->AsyncUnary(call.context.get(), job.next_request(), &queue);
    call.reader->Finish(&call.response, &call.status, &call);
  };
  for (auto& call : calls) issue(call);
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
    auto& call = *static_cast<UnaryCall*>(tag);
    if (!call.status.ok()) {
      std::fprintf(stderr, "%s\n", call.status.error_message().c_str());
      return 1;
    }
    if (!job.window.completed(call.issued_s)) break;
    issue(call);
  }
  job.window.print();
  return 0;
}

int run_bidi(Job& job) {
  auto stub = Echo::NewStub(job.channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  static char begun, read, written;
  auto stream = stub->AsyncStream(&context, &queue, &begun);
  Payload response;
  std::deque<double> issued_s;
  int to_send = job.outstanding;
  bool is_writing = false;
  const auto write = [&] {
    if (is_writing || to_send == 0) return;
    is_writing = true;
    to_send -= 1;
    issued_s.push_back(now_s());
    stream->Write(job.next_request(), &written);
  };
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
    if (!ok) return 1;
    if (tag == &begun) {
      stream->Read(&response, &read);
      write();
    } else if (tag == &written) {
      is_writing = false;
      write();
    } else {
      if (!job.window.completed(issued_s.front())) break;
      issued_s.pop_front();
      to_send += 1;
      stream->Read(&response, &read);
      write();
    }
  }
  job.window.print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "server" && argc == 3) return serve(std::strtoul(argv[2], nullptr, 10));
  if ((mode != "unary" && mode != "bidi") || argc != 9) {
    std::fprintf(stderr, "usage: see the head of peer.cc\n");
    return 2;
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  Job job{grpc::CreateCustomChannel(std::string("127.0.0.1:") + argv[2],
                                    grpc::InsecureChannelCredentials(), arguments),
          std::vector<Payload>(std::strtoul(argv[5], nullptr, 10)), std::atoi(argv[6]),
          Window(std::atof(argv[7]), std::atof(argv[8]), argv[3])};
  for (auto& request : job.requests) {
    request.set_payload(std::string(std::strtoul(argv[4], nullptr, 10), 'x'));
  }
  const int code = mode == "unary" ? run_unary(job) : run_bidi(job);
  std::fflush(stdout);
  // Calls that are still under way are of no interest.
  std::_Exit(code);
}
