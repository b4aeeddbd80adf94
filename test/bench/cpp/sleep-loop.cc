// What a C++ load generator reaches at best: sleeps until each due time of a Poisson schedule and notes how late it
// woke. No network, nothing else to do.
//
//   sleep-loop QPS SECONDS SEED                   prints one line of JSON

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: sleep-loop QPS SECONDS SEED\n");
    return 2;
  }
  const double qps = std::atof(argv[1]);
  const double seconds = std::atof(argv[2]);
  std::mt19937 generator(std::strtoul(argv[3], nullptr, 10));
  std::exponential_distribution<double> gap_s(qps);
  std::vector<std::chrono::nanoseconds> due;
  for (double at_s = gap_s(generator); at_s < seconds; at_s += gap_s(generator)) {
    due.emplace_back(static_cast<long long>(at_s * 1e9));
  }
  std::vector<double> late_us(due.size());
  const auto begin = Clock::now();
  for (size_t i = 0; i < due.size(); ++i) {
    std::this_thread::sleep_until(begin + due[i]);
    late_us[i] = std::chrono::duration<double, std::micro>(Clock::now() - begin - due[i]).count();
  }
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu_s = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  std::sort(late_us.begin(), late_us.end());
  const auto at = [&](double fraction) {
    return late_us[std::min(late_us.size() - 1, static_cast<size_t>(late_us.size() * fraction))];
  };
  std::printf("{\"queries\":%zu,\"cores\":%.4f,\"p50Us\":%.3f,\"p99Us\":%.3f,\"p999Us\":%.3f,\"maxUs\":%.3f}\n",
              late_us.size(), cpu_s / elapsed_s, at(0.5), at(0.99), at(0.999), late_us.back());
  return 0;
}
