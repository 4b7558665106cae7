#pragma once
// Where the matrix unit keeps its elements: a text that shows it, and what the layouts of Caps say it shows.
#include <fmt/format.h>

#include "tilewright/layout.h"
#include "unit/cuda/texts.h"

namespace tilewright::cuda {

inline constexpr int64_t kSlotsOfA = 8, kSlotsOfB = 4, kSlotsOfC = 4, kLanes = 32;
inline constexpr int64_t kElementsOfA = kLanes * kSlotsOfA, kElementsOfC = kLanes * kSlotsOfC;

/// y (kElementsOfA, kElementsOfC) f32. Row e: what the lanes get, slot by slot, when the one element e of a (lane e /
/// 8, slot e % 8) is 1, the others 0, and each element of b is its own number, lane * 4 + slot. No number is b's twice,
/// so that the rows together show which row and column of each operand every slot is.
inline Artifact matrix_map(DType type, const std::string& arch = "sm_80") {
  Artifact artifact = emitted(
      "map", signature(tensor("y", f32, {kElementsOfA, kElementsOfC}).contiguous()),
      [](Buffer y) {
        for (Var b : grid(1, threads{32})) y(b, 0) = 0;
      },
      arch);
  artifact.text = fmt::format(R"(
extern "C" __global__ void __launch_bounds__(32) map_kernel(tw::argument<float> y) {{
  const int t = threadIdx.x;
  for (int e = 0; e < {}; ++e) {{
    tw::{} a[8], b[4];
    float c[4] = {{0, 0, 0, 0}};
    for (int s = 0; s < 8; ++s) a[s] = tw::narrow<tw::{}>(t * 8 + s == e ? 1.0f : 0.0f);
    for (int s = 0; s < 4; ++s) b[s] = tw::narrow<tw::{}>(float(t * 4 + s));
    tw::mma_m16n8k16(c, a, b);
    for (int s = 0; s < 4; ++s) y[e * {} + t * 4 + s] = c[s];
  }}
}}
)",
                              kElementsOfA, to_string(type), to_string(type), to_string(type), kElementsOfC);
  artifact.lines.clear();
  return artifact;
}

/// lane * slots + slot of a coordinate.
inline int64_t place_in(const Layout& layout, const Coord& x, int64_t slots) {
  const Point p = layout.at(x);
  return p.thread * slots + p.offset / layout.element_bits();
}

/// What matrix_map()'s y is by the layouts of the unit.
inline std::vector<float> wanted_map() {
  const Layout a = known::mma_a(16), b = known::mma_b(16), c = known::mma_c();
  std::vector<float> y(static_cast<size_t>(kElementsOfA * kElementsOfC));
  for (int64_t row = 0; row < 16; ++row)
    for (int64_t k = 0; k < 16; ++k)
      for (int64_t column = 0; column < 8; ++column)
        y[static_cast<size_t>(place_in(a, {row, k}, kSlotsOfA) * kElementsOfC +
                              place_in(c, {row, column}, kSlotsOfC))] =
            static_cast<float>(place_in(b, {k, column}, kSlotsOfB));
  return y;
}

/// What the device gets.
inline std::vector<float> map_on(Device& device, DType type, const std::string& arch) {
  std::vector<float> y(static_cast<size_t>(kElementsOfA * kElementsOfC), -1);
  const int64_t bytes = static_cast<int64_t>(y.size() * sizeof(float));
  void* memory = device.allocate(bytes);
  device.copy_in(memory, y.data(), bytes);
  const std::vector<Argument> arguments{Tensor{memory, f32, {kElementsOfA, kElementsOfC}}};
  device.load(matrix_map(type, arch))->launch(arguments, {});
  device.synchronize();
  device.copy_out(y.data(), memory, bytes);
  device.release(memory);
  return y;
}

}  // namespace tilewright::cuda
