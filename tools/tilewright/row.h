#pragma once
// Rows of measurements: one form for every command, as a table and as JSON.
#include <string>
#include <vector>

#include "tilewright/dtype.h"

namespace tilewright::tool {

struct Row {
  std::string family, label, target, device;
  DType type;
  int threads = 1;  // host threads
  double seconds = 0, flop = 0, bytes = 0;
  std::string peer;  // empty: none
  double peer_seconds = 0;
  double error = 0, tolerance = 0;
  double compile_seconds = 0;

  /// peer_seconds / seconds: above 1 when we are faster. 0 without a peer.
  double ratio() const { return peer.empty() ? 0 : peer_seconds / seconds; }
  bool ok() const { return error <= tolerance; }
};

/// "2.1 ms".
std::string duration_text(double seconds);
/// "90.1 GFLOP/s" of work that is mostly arithmetic, else "12.3 GB/s".
std::string rate_text(const Row& row);
/// A line a row below a heading.
std::string table_text(const std::vector<Row>& rows);
/// An array of objects; what a row has not is null.
std::string json_text(const std::vector<Row>& rows);

}  // namespace tilewright::tool
