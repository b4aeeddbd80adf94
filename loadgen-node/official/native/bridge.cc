// Connects MLPerf's C++ LoadGen, built by the user and linked as it is, with Node.js: LoadGen runs its test on a thread of
// its own, and its SUT and sample library are JavaScript's. It keeps LoadGen's response ids, decides nothing and batches nothing:
// each IssueQuery stays a query of its own.
//
//   LoadGen's threads    IssueQuery -> rings -> wake (one for all that is in the rings)  ...  Name, Load, Unload: wait for reply()
//   Node's main thread   onEvent(heads, request) -> the SUT;  complete(count) -> QuerySamplesComplete
//
// In SingleStream and MultiStream LoadGen does nothing while a query is outstanding, and Node.js nothing while LoadGen makes the next
// one. Two threads would wake each other twice per query, so there LoadGen runs on Node's main thread, on a stack of its own
// (Routine): IssueQuery leaves it, and returns once the query is complete, as LoadGen's interface allows. The call with the last
// response makes it go on, and returns with the next query. While LoadGen makes its queries and its results, Node.js waits.
//
// Needs only Node-API 8, so that one build serves every Node.js; CONF_TYPE: LoadGen from v5.0 on, which has mlperf.conf built in.

// Its check of longjmp knows one stack per thread.
#undef _FORTIFY_SOURCE
#define NAPI_VERSION 8
#include <node_api.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <setjmp.h>
#include <ucontext.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "loadgen.h"
#include "query_sample.h"
#include "query_sample_library.h"
#include "system_under_test.h"
#include "test_settings.h"
#include "version.h"

namespace {

using mlperf::QuerySample;
using mlperf::QuerySampleIndex;
using mlperf::QuerySampleResponse;
using mlperf::ResponseId;

// Requests that LoadGen's thread waits for, and the end; the same numbers as in addon.ts.
enum Request { kNone = 0, kName = 1, kLoad = 2, kUnload = 3, kEnded = 4 };

// Of an entry of the query ring: more samples of the same query follow in the next entry.
constexpr uint32_t kHasMore = 0x80000000u;

// Ids lie in chunks, so that those that are there never move.
constexpr uint64_t kChunk = 1 << 16;
constexpr uint64_t kChunks = 1 << 14;

// So many queries of a routine at most follow each other in one turn of the event loop: timers, signals and I/O get theirs, too,
// where a SUT answers at once.
constexpr uint64_t kQueriesPerTurn = 1024;

// Number of an issue thread, in the order in which they register.
thread_local uint32_t issueThread = 0;

double NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// LoadGen numbers its issue threads as they register, and does not say when one has: it then waits for the test. Linux shows
// that it sleeps; a second at most.
void WaitUntilAsleep(const std::atomic<long>& thread) {
  for (int look = 0; look < 10000; ++look) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (thread.load() == 0) continue;
    std::ifstream file("/proc/self/task/" + std::to_string(thread.load()) + "/stat");
    std::string text;
    std::getline(file, text);
    const size_t end = text.rfind(')');
    if (end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'S') return;
  }
}

// Runs a function, which leaves at its end as well, by turns with the thread that owns it, on a stack of its own. No JavaScript runs on that stack: all that is
// called of Node.js there is napi_call_threadsafe_function.
#ifdef __GLIBC__
class Routine {
 public:
  explicit Routine(void (*body)()) : body_(body) {}

  // False where there is no memory for its stack.
  bool Prepare() {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* stack = mmap(nullptr, kStack + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // The stack grows down: what runs over its end meets a page that nobody may touch.
    if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) != 0 || getcontext(&begin_) != 0) return false;
    begin_.uc_stack.ss_sp = static_cast<char*>(stack) + page;
    begin_.uc_stack.ss_size = kStack;
    begin_.uc_link = nullptr;
    makecontext(&begin_, body_, 0);
    return true;
  }

  // From outside: the function goes on until it leaves. Only the first time by setcontext, which sets the signal mask by a call of the
  // kernel: each query would pay for two.
  void Enter() {
    if (_setjmp(outside_) != 0) return;
    if (hasLeft_) _longjmp(left_, 1);
    setcontext(&begin_);
  }

  // From inside.
  void Leave() {
    hasLeft_ = true;
    if (_setjmp(left_) == 0) _longjmp(outside_, 1);
  }

 private:
  // As a thread has by default.
  static constexpr size_t kStack = 8 << 20;
  void (*const body_)();
  ucontext_t begin_;
  jmp_buf outside_;
  jmp_buf left_;
  bool hasLeft_ = false;
};
#else
// Other C libraries have no makecontext: LoadGen has a thread in all scenarios.
class Routine {
 public:
  explicit Routine(void (*)()) {}
  bool Prepare() { return false; }
  void Enter() {}
  void Leave() {}
};
#endif

// Memory of an ArrayBuffer that JavaScript keeps for as long as the process lives.
struct View {
  void* data = nullptr;
  size_t bytes = 0;
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
  template <typename T>
  uint64_t length() const {
    return bytes / sizeof(T);
  }
};

class Bridge : public mlperf::SystemUnderTest {
 public:
  // Rings and tables that JavaScript reads or writes.
  View tails;      // Int32: entries of the query ring and of the sample ring that were read, modulo 2^32
  View stamps;     // Float64: CLOCK_MONOTONIC at IssueQuery, by entry of the query ring
  View queries;    // Uint32 x 2: samples | kHasMore (0: FlushQueries), issue thread
  View samples;    // Uint32: sample indices
  View done;       // Int32 x 4: number of the sample in the set by issue, offset and length in the arena, tokens
  View arena;      // bytes of responses

  napi_threadsafe_function wake = nullptr;
  std::string sutName;
  std::string qslName;
  size_t totalSamples = 0;
  size_t performanceSamples = 0;
  mlperf::TestSettings settings;
  mlperf::LogSettings log;
  std::string auditConf;
  std::string failure;
  // LoadGen's, on Node's main thread; null where LoadGen has a thread.
  std::unique_ptr<Routine> routine;

  // --- LoadGen's side: its threads, or its routine ---

  const std::string& Name() override {
    Ask(kName, nullptr);
    return sutName;
  }

  void IssueQuery(const std::vector<QuerySample>& issued) override {
    const double atNs = NowNs();
    const uint32_t thread = issueThread;
    if (routine != nullptr) outstanding_ = issued.size();
    PushSamples(issued, atNs, thread);
    while (routine != nullptr && outstanding_ > 0) routine->Leave();
  }

  void FlushQueries() override {
    {
      std::lock_guard<std::mutex> lock(issueMutex_);
      WaitForRoom();
      Push(NowNs(), 0, 0);
    }
    if (routine == nullptr) return;
    // The set ends before LoadGen works out its results.
    Wake();
    routine->Leave();
  }

  void RunTest() {
    std::vector<std::thread> issuers;
    if (settings.scenario == mlperf::TestScenario::Server) {
      for (uint64_t i = 0; i < settings.server_num_issue_query_threads; ++i) {
        std::atomic<long> thread{0};
        issuers.emplace_back([i, &thread] {
          issueThread = static_cast<uint32_t>(i);
          thread.store(syscall(SYS_gettid));
          mlperf::RegisterIssueQueryThread();
        });
        WaitUntilAsleep(thread);
      }
    }
    try {
      Qsl qsl(this);
      mlperf::StartTest(this, &qsl, settings, log, auditConf);
    } catch (const std::exception& error) {
      failure = error.what();
      for (std::thread& issuer : issuers) issuer.detach();
      issuers.clear();
    }
    for (std::thread& issuer : issuers) issuer.join();
    {
      std::lock_guard<std::mutex> lock(requestMutex_);
      request_ = kEnded;
      requestedSet_ = nullptr;
      isRequestNew_ = true;
    }
    isOver_ = true;
    Tell();
  }

  // --- Node's main thread ---

  void Wake() {
    if (!isWoken_.exchange(true)) napi_call_threadsafe_function(wake, nullptr, napi_tsfn_nonblocking);
  }

  // LoadGen's routine goes on until it waits again.
  void GoOn() {
    if (routine == nullptr || isOver_) return;
    // It may want another wake.
    isWoken_.store(false);
    routine->Enter();
  }

  // Queries of a routine so far; those of LoadGen's thread come with its wake.
  uint64_t Head() const { return routine == nullptr ? 0 : queryHead_.load(); }

  // The last sample of its query is complete.
  bool MayGoOn() const { return routine != nullptr && outstanding_ == 0; }

  bool IsTurnOver() const { return queryHead_.load() % kQueriesPerTurn == 0; }

  // Heads of the rings and the request that came since the last call, if one did.
  Request Take(uint64_t* queryHead, uint64_t* sampleHead, const std::vector<QuerySampleIndex>** set) {
    isWoken_.store(false);
    *queryHead = queryHead_.load();
    *sampleHead = sampleHeadSeen_.load();
    std::lock_guard<std::mutex> lock(requestMutex_);
    if (!isRequestNew_) return kNone;
    isRequestNew_ = false;
    *set = requestedSet_;
    return request_;
  }

  void Reply() {
    std::lock_guard<std::mutex> lock(requestMutex_);
    isReplied_ = true;
    replied_.notify_one();
    if (routine != nullptr) Wake();
  }

  // False for a sample that is not outstanding: LoadGen never sees its id again.
  bool TakeId(uint64_t sample, bool isKept, ResponseId* id) {
    if (sample >= issuedSamples_.load()) return false;
    ResponseId& slot = chunks_[sample / kChunk][sample % kChunk];
    if (slot == mlperf::kResponseIdReserved) return false;
    *id = slot;
    if (isKept) return true;
    slot = mlperf::kResponseIdReserved;
    if (routine != nullptr) outstanding_ -= 1;
    return true;
  }

  std::vector<QuerySampleResponse> responses;

 private:
  // Apart from the SUT, since both have a method Name.
  class Qsl : public mlperf::QuerySampleLibrary {
   public:
    explicit Qsl(Bridge* bridge) : bridge_(bridge) {}
    const std::string& Name() override { return bridge_->qslName; }
    size_t TotalSampleCount() override { return bridge_->totalSamples; }
    size_t PerformanceSampleCount() override { return bridge_->performanceSamples; }
    void LoadSamplesToRam(const std::vector<QuerySampleIndex>& set) override {
      bridge_->issuedSamples_.store(0);
      bridge_->Ask(kLoad, &set);
    }
    void UnloadSamplesFromRam(const std::vector<QuerySampleIndex>& set) override { bridge_->Ask(kUnload, &set); }

   private:
    Bridge* const bridge_;
  };

  void PushSamples(const std::vector<QuerySample>& issued, double atNs, uint32_t thread) {
    std::lock_guard<std::mutex> lock(issueMutex_);
    size_t at = 0;
    do {
      // Large queries go through in parts: the ring is smaller than an Offline query may be.
      const uint64_t room = WaitForRoom();
      const size_t count = std::min<uint64_t>(issued.size() - at, room);
      uint64_t head = sampleHead_;
      uint64_t sample = issuedSamples_.load(std::memory_order_relaxed);
      for (size_t i = at; i < at + count; ++i, ++head, ++sample) {
        samples.as<uint32_t>()[head % samples.length<uint32_t>()] = static_cast<uint32_t>(issued[i].index);
        KeepId(sample, issued[i].id);
      }
      sampleHead_ = head;
      issuedSamples_.store(sample);
      at += count;
      Push(atNs, static_cast<uint32_t>(count) | (at < issued.size() ? kHasMore : 0), thread);
    } while (at < issued.size());
  }

  // Room in the sample ring, once there is some in both rings: while Node.js does not read, LoadGen waits, and its
  // latencies show it.
  uint64_t WaitForRoom() {
    auto* read = tails.as<std::atomic<int32_t>>();
    for (;;) {
      const uint32_t ofQueries = static_cast<uint32_t>(queryHead_.load()) - static_cast<uint32_t>(read[0].load());
      const uint32_t ofSamples = static_cast<uint32_t>(sampleHead_) - static_cast<uint32_t>(read[1].load());
      const uint64_t room = samples.length<uint32_t>() - ofSamples;
      if (ofQueries < stamps.length<double>() && room > 0) return room;
      if (routine == nullptr) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      } else {
        Wake();
        routine->Leave();
      }
    }
  }

  void Push(double atNs, uint32_t count, uint32_t thread) {
    const uint64_t head = queryHead_.load(std::memory_order_relaxed);
    const uint64_t at = head % stamps.length<double>();
    stamps.as<double>()[at] = atNs;
    queries.as<uint32_t>()[2 * at] = count;
    queries.as<uint32_t>()[2 * at + 1] = thread;
    sampleHeadSeen_.store(sampleHead_);
    queryHead_.store(head + 1);
    Tell();
  }

  void KeepId(uint64_t sample, ResponseId id) {
    std::unique_ptr<ResponseId[]>& chunk = chunks_[sample / kChunk];
    if (chunk == nullptr) chunk.reset(new ResponseId[kChunk]);
    chunk[sample % kChunk] = id;
  }

  // The call on Node's main thread in which a routine runs takes itself what it left.
  void Tell() {
    if (routine == nullptr) Wake();
  }

  void Ask(Request request, const std::vector<QuerySampleIndex>* set) {
    std::unique_lock<std::mutex> lock(requestMutex_);
    request_ = request;
    requestedSet_ = set;
    isReplied_ = false;
    isRequestNew_ = true;
    lock.unlock();
    Tell();
    while (routine != nullptr && !isReplied_) routine->Leave();
    lock.lock();
    replied_.wait(lock, [this] { return isReplied_; });
  }

  // Of the query of a routine: samples that are not complete.
  size_t outstanding_ = 0;
  bool isOver_ = false;

  std::mutex issueMutex_;
  uint64_t sampleHead_ = 0;
  std::atomic<uint64_t> sampleHeadSeen_{0};
  std::atomic<uint64_t> queryHead_{0};
  std::atomic<bool> isWoken_{false};
  std::atomic<uint64_t> issuedSamples_{0};
  std::unique_ptr<ResponseId[]> chunks_[kChunks];

  std::mutex requestMutex_;
  std::condition_variable replied_;
  Request request_ = kNone;
  const std::vector<QuerySampleIndex>* requestedSet_ = nullptr;
  bool isRequestNew_ = false;
  bool isReplied_ = false;
};

// One test per process: LoadGen keeps state of its own beyond a test. Never freed: its threads may outlive everything.
Bridge* bridge = nullptr;
napi_ref onEvent = nullptr;

// --- Node-API ---

napi_value Throw(napi_env env, const std::string& text) {
  napi_throw_error(env, nullptr, text.c_str());
  return nullptr;
}

napi_value Get(napi_env env, napi_value object, const char* key) {
  napi_value value;
  napi_get_named_property(env, object, key, &value);
  return value;
}

std::string Text(napi_env env, napi_value value) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) return "";
  std::string text(length, '\0');
  napi_get_value_string_utf8(env, value, &text[0], length + 1, &length);
  return text;
}

double Number(napi_env env, napi_value value) {
  double number = 0;
  napi_get_value_double(env, value, &number);
  return number;
}

bool Flag(napi_env env, napi_value value) {
  bool flag = false;
  napi_get_value_bool(env, value, &flag);
  return flag;
}

napi_value Value(napi_env env, double number) {
  napi_value value;
  napi_create_double(env, number, &value);
  return value;
}

napi_value Value(napi_env env, const std::string& text) {
  napi_value value;
  napi_create_string_utf8(env, text.data(), text.size(), &value);
  return value;
}

View BytesOf(napi_env env, napi_value array) {
  View view;
  napi_typedarray_type type;
  napi_value buffer;
  size_t length = 0;
  size_t offset = 0;
  if (napi_get_typedarray_info(env, array, &type, &length, &view.data, &buffer, &offset) != napi_ok) return view;
  const size_t width = type == napi_float64_array ? 8 : type == napi_uint8_array ? 1 : 4;
  view.bytes = length * width;
  return view;
}

// Runs on Node's main thread, once for all wakes since the last time.
void CallEvent(napi_env env, napi_value, void*, void*) {
  if (env == nullptr) return;
  bridge->GoOn();
  uint64_t queryHead = 0;
  uint64_t sampleHead = 0;
  const std::vector<QuerySampleIndex>* set = nullptr;
  const Request request = bridge->Take(&queryHead, &sampleHead, &set);
  napi_value undefined;
  napi_get_undefined(env, &undefined);
  napi_value detail = undefined;
  if (set != nullptr) {
    napi_value buffer;
    void* data = nullptr;
    napi_create_arraybuffer(env, set->size() * 4, &data, &buffer);
    for (size_t i = 0; i < set->size(); ++i) static_cast<uint32_t*>(data)[i] = static_cast<uint32_t>((*set)[i]);
    napi_create_typedarray(env, napi_uint32_array, set->size(), buffer, 0, &detail);
  } else if (request == kEnded) {
    detail = Value(env, bridge->failure);
  }
  napi_value arguments[] = {Value(env, static_cast<double>(queryHead)), Value(env, static_cast<double>(sampleHead)),
                            Value(env, request), detail};
  napi_value callback;
  napi_get_reference_value(env, onEvent, &callback);
  napi_call_function(env, undefined, callback, 4, arguments, nullptr);
  // Without this Node.js drops an exception of a native callback, and LoadGen waits for ever.
  bool isThrown = false;
  napi_is_exception_pending(env, &isThrown);
  if (!isThrown) return;
  napi_value error;
  napi_get_and_clear_last_exception(env, &error);
  napi_fatal_exception(env, error);
}

// start(options, views, onEvent)
napi_value Start(napi_env env, napi_callback_info info) {
  size_t count = 3;
  napi_value arguments[3];
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  if (bridge != nullptr) return Throw(env, "LoadGen has run a test in this process: it runs one only");
  const napi_value options = arguments[0];
  const napi_value views = arguments[1];
  const auto text = [&](const char* key) { return Text(env, Get(env, options, key)); };
  const auto number = [&](const char* key) { return Number(env, Get(env, options, key)); };
  const auto flag = [&](const char* key) { return Flag(env, Get(env, options, key)); };
  const auto view = [&](const char* key) { return BytesOf(env, Get(env, views, key)); };

  auto* made = new Bridge();
  made->settings.scenario = static_cast<mlperf::TestScenario>(static_cast<int>(number("scenario")));
  made->settings.mode = static_cast<mlperf::TestMode>(static_cast<int>(number("mode")));
  made->settings.server_num_issue_query_threads = static_cast<uint64_t>(number("issueThreads"));
  for (const char* key : {"mlperfConf", "userConf"}) {
    const std::string path = text(key);
    if (path.empty()) continue;
#ifdef CONF_TYPE
    const int code = made->settings.FromConfig(path, text("model"), text("scenarioName"), 1);
#else
    const int code = made->settings.FromConfig(path, text("model"), text("scenarioName"));
#endif
    if (code == 0) continue;
    delete made;
    return Throw(env, "LoadGen does not read " + path + ": code " + std::to_string(code));
  }
  const std::pair<const char*, uint64_t*> seeds[] = {
      {"qslRngSeed", &made->settings.qsl_rng_seed},
      {"sampleIndexRngSeed", &made->settings.sample_index_rng_seed},
      {"scheduleRngSeed", &made->settings.schedule_rng_seed},
  };
  for (const auto& seed : seeds) {
    const std::string value = text(seed.first);
    if (!value.empty()) *seed.second = std::stoull(value);
  }
  made->auditConf = text("auditConf");
  made->log.log_output.outdir = text("outdir");
  made->log.log_output.prefix_with_datetime = flag("prefixWithDatetime");
  made->log.log_output.copy_detail_to_stdout = flag("copyDetailToStdout");
  made->log.log_output.copy_summary_to_stdout = flag("copySummaryToStdout");
  made->log.enable_trace = flag("enableTrace");
  made->qslName = text("qslName");
  made->totalSamples = static_cast<size_t>(number("totalSamples"));
  made->performanceSamples = static_cast<size_t>(number("performanceSamples"));
  made->tails = view("tails");
  made->stamps = view("stamps");
  made->queries = view("queries");
  made->samples = view("samples");
  made->done = view("done");
  made->arena = view("arena");
  made->responses.reserve(made->done.length<int32_t>() / 4);

  napi_create_reference(env, arguments[2], 1, &onEvent);
  // The views stay alive with the process.
  napi_ref kept;
  napi_create_reference(env, views, 1, &kept);
  bridge = made;
  if (napi_create_threadsafe_function(env, nullptr, nullptr, Value(env, "LoadGen"), 0, 1, nullptr, nullptr, nullptr,
                                      CallEvent, &made->wake) != napi_ok) {
    return Throw(env, "napi_create_threadsafe_function failed");
  }
  // In other scenarios it issues while responses come.
  const bool isInTurns = made->settings.scenario == mlperf::TestScenario::SingleStream ||
                         made->settings.scenario == mlperf::TestScenario::MultiStream;
  auto routine = std::make_unique<Routine>([] {
    bridge->RunTest();
    bridge->routine->Leave();
  });
  if (isInTurns && routine->Prepare()) {
    made->routine = std::move(routine);
    made->Wake();
  } else {
    std::thread([made] { made->RunTest(); }).detach();
  }
  return nullptr;
}

// reply(name?): LoadGen's thread goes on.
napi_value Reply(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value name;
  napi_get_cb_info(env, info, &count, &name, nullptr, nullptr);
  napi_valuetype type = napi_undefined;
  if (count > 0) napi_typeof(env, name, &type);
  if (type == napi_string) bridge->sutName = Text(env, name);
  bridge->Reply();
  return nullptr;
}

// Responses were handed to LoadGen: with the last one of a query its routine goes on, in the same turn where that is possible.
// Returns the head of the query ring, up to which the caller reads: a call back into JavaScript would cost more than all of this.
napi_value AfterComplete(napi_env env) {
  if (bridge->MayGoOn()) {
    if (bridge->IsTurnOver()) bridge->Wake();
    else bridge->GoOn();
  }
  return Value(env, static_cast<double>(bridge->Head()));
}

// complete(count): the first entries of the table `done`, in one call of LoadGen, which sees none that is not outstanding.
napi_value Complete(napi_env env, napi_callback_info info) {
  size_t arguments = 1;
  napi_value argument;
  napi_get_cb_info(env, info, &arguments, &argument, nullptr, nullptr);
  const auto count = static_cast<size_t>(Number(env, argument));
  std::vector<QuerySampleResponse>& responses = bridge->responses;
  responses.clear();
  const int32_t* row = bridge->done.as<int32_t>();
  for (size_t i = 0; i < count; ++i, row += 4) {
    ResponseId id;
    if (!bridge->TakeId(static_cast<uint32_t>(row[0]), false, &id)) continue;
    const auto data = reinterpret_cast<uintptr_t>(bridge->arena.as<uint8_t>() + static_cast<uint32_t>(row[1]));
    responses.emplace_back(id, data, static_cast<uint32_t>(row[2]), row[3]);
  }
  if (!responses.empty()) mlperf::QuerySamplesComplete(responses.data(), responses.size());
  return AfterComplete(env);
}

bool OneResponse(napi_env env, napi_callback_info info, bool isFirstToken, QuerySampleResponse* response) {
  size_t count = 3;
  napi_value arguments[3];
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  ResponseId id;
  if (!bridge->TakeId(static_cast<uint64_t>(Number(env, arguments[0])), isFirstToken, &id)) return false;
  const View bytes = BytesOf(env, arguments[1]);
  const auto tokens = count > 2 ? static_cast<int64_t>(Number(env, arguments[2])) : 0;
  *response = QuerySampleResponse(id, reinterpret_cast<uintptr_t>(bytes.data), bytes.bytes, tokens);
  return true;
}

// completeOne(sample, bytes, tokens): as complete, for a response that is larger than the arena.
napi_value CompleteOne(napi_env env, napi_callback_info info) {
  QuerySampleResponse response;
  if (OneResponse(env, info, false, &response)) mlperf::QuerySamplesComplete(&response, 1);
  return AfterComplete(env);
}

// firstToken(sample, bytes)
napi_value FirstToken(napi_env env, napi_callback_info info) {
  QuerySampleResponse response;
  if (OneResponse(env, info, true, &response)) mlperf::FirstTokenComplete(&response, 1);
  return nullptr;
}

// release(): the test has ended, Node.js may end too.
napi_value Release(napi_env env, napi_callback_info) {
  napi_unref_threadsafe_function(env, bridge->wake);
  return nullptr;
}

// hardExit(code): ends the process without the destructors of statics, which LoadGen's threads may still use.
napi_value HardExit(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value code;
  napi_get_cb_info(env, info, &count, &code, nullptr, nullptr);
  _exit(static_cast<int>(Number(env, code)));
}

// build(): what the linked LoadGen says of itself.
napi_value Build(napi_env env, napi_callback_info) {
  napi_value object;
  napi_create_object(env, &object);
  const auto put = [&](const char* key, const std::string& text) {
    napi_set_named_property(env, object, key, Value(env, text));
  };
  put("version", mlperf::LoadgenVersion());
  put("gitRevision", mlperf::LoadgenGitRevision());
  put("gitStatus", mlperf::LoadgenGitStatus());
  put("buildDate", mlperf::LoadgenBuildDateUtc());
  put("sha1OfFiles", mlperf::LoadgenSha1OfFiles());
  put("compiler", __VERSION__);
#ifdef __GLIBCXX__
  put("library", "libstdc++ " + std::to_string(_GLIBCXX_RELEASE));
#else
  put("library", "not libstdc++");
#endif
  return object;
}

// layoutDiffers(conf): whether the library reads the file's values to other places than the header says. The memory is larger
// than the header's settings, for a library that has more of them.
napi_value LayoutDiffers(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value path;
  napi_get_cb_info(env, info, &count, &path, nullptr, nullptr);
  constexpr size_t kSlack = 256;
  constexpr unsigned char kUntouched = 0xA5;
  alignas(mlperf::TestSettings) static unsigned char memory[sizeof(mlperf::TestSettings) + kSlack];
  std::fill(std::begin(memory), std::end(memory), kUntouched);
  auto* settings = new (memory) mlperf::TestSettings();
#ifdef CONF_TYPE
  const int code = settings->FromConfig(Text(env, path), "model", "Server", 2);
#else
  const int code = settings->FromConfig(Text(env, path), "model", "Server");
#endif
  const bool isRead = code == 0 && settings->min_duration_ms == 10007 && settings->sample_concatenate_permutation &&
                      settings->use_token_latencies && settings->server_ttft_latency == 17000000 &&
                      settings->server_tpot_latency == 19000000;
  const bool isWithin = std::all_of(memory + sizeof(mlperf::TestSettings), std::end(memory),
                                    [](unsigned char byte) { return byte == kUntouched; });
  napi_value differs;
  napi_get_boolean(env, !(isRead && isWithin), &differs);
  return differs;
}

}  // namespace

NAPI_MODULE_INIT() {
  const std::pair<const char*, napi_callback> functions[] = {
      {"build", Build},           {"start", Start},           {"reply", Reply},
      {"complete", Complete},     {"completeOne", CompleteOne}, {"firstToken", FirstToken},
      {"release", Release},       {"hardExit", HardExit},   {"layoutDiffers", LayoutDiffers},
  };
  for (const auto& function : functions) {
    napi_value value;
    napi_create_function(env, function.first, NAPI_AUTO_LENGTH, function.second, nullptr, &value);
    napi_set_named_property(env, exports, function.first, value);
  }
  return exports;
}
