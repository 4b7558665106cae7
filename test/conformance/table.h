#pragma once
// The one table of cases that every machine reads: a kernel, its element type, its sizes.
#include <string>
#include <vector>

#include "tilewright/dtype.h"

namespace tilewright::test {

enum class Family : uint8_t { vector_add, reverse, softmax, rms_norm, gemm, attention };

struct Case {
  Family family;
  DType type;
  /// vector_add, reverse: N. softmax, rms_norm: R, C. gemm: M, N, K. attention: B, H, G, S, T, d.
  std::vector<int64_t> shape;
  /// Columns of a row tile; a GEMM tile (m, n, k); an attention tile (m, n). Elements of a vector tile.
  std::vector<int64_t> tile;
  bool flag = false;     // gemm: B is transposed; attention: causal
  bool strided = false;  // gaps between rows, odd start
  DType out = f32;       // gemm: type of C

  /// A name of letters, digits and underscores.
  std::string name() const;
};

const std::vector<Case>& cases();

/// What a machine is asked: its families and the most multiplications (elements, for the others) of one case.
struct Limit {
  std::string machine;
  std::vector<Family> families;
  int64_t work;
};

/// Whether the machine runs the case; machines without a line run everything.
bool is_asked(const std::string& machine, const Case& c);

}  // namespace tilewright::test
