#pragma once
// Medians of repeated calls.
#include <functional>

namespace tilewright::tool {

struct Timing {
  double seconds = 0, peer_seconds = 0;
};

/// The median time of a call of each, after one call to warm up; they take turns, so that a change of the machine's
/// speed meets both. Each gets about `budget` seconds. `peer` may be empty.
Timing time_both(const std::function<void()>& ours, const std::function<void()>& peer, double budget);

}  // namespace tilewright::tool
