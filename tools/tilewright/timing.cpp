#include "timing.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace tilewright::tool {
namespace {

constexpr int kTurns = 3;
/// The threads of OpenBLAS spin for a while after a call.
constexpr auto kPeerCoolsDown = std::chrono::milliseconds(100);

double seconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds samples until `budget` seconds are over, at least one.
void sample(const std::function<void()>& call, double budget, std::vector<double>& samples) {
  constexpr size_t kEnough = 1000;
  for (size_t taken = 0; taken == 0 || (budget > 0 && taken < kEnough); ++taken) {
    samples.push_back(seconds_of(call));
    budget -= samples.back();
  }
}

double median(std::vector<double> samples) {
  auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

Timing time_both(const std::function<void()>& ours, const std::function<void()>& peer, double budget) {
  std::vector<double> our_samples, peer_samples;
  if (peer) peer();
  ours();
  for (int turn = 0; turn < kTurns; ++turn) {
    if (peer) {
      sample(peer, budget / kTurns, peer_samples);
      std::this_thread::sleep_for(kPeerCoolsDown);
    }
    sample(ours, budget / kTurns, our_samples);
  }
  return {median(our_samples), peer ? median(peer_samples) : 0};
}

}  // namespace tilewright::tool
