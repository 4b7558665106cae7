#include "target/common/emulator/engine/vector.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "target/common/emulator/engine/convert.h"
#include "target/common/emulator/engine/machine.h"

namespace tilewright::engine {
using namespace tw_engine;

namespace {

struct F32 {
  using Wide = float;
  static constexpr int kBytes = 4;
  static float load(const uint8_t* p) {
    float f;
    std::memcpy(&f, p, 4);
    return f;
  }
  static void store(uint8_t* p, float f) { std::memcpy(p, &f, 4); }
};
struct F16 {
  using Wide = float;
  static constexpr int kBytes = 2;
  static float load(const uint8_t* p) {
    uint16_t h;
    std::memcpy(&h, p, 2);
    return half_to_float(h);
  }
  static void store(uint8_t* p, float f) {
    uint16_t h = float_to_half(f);
    std::memcpy(p, &h, 2);
  }
};
template <class T>
struct Int {
  using Wide = int64_t;
  static constexpr int kBytes = sizeof(T);
  static int64_t load(const uint8_t* p) {
    T v;
    std::memcpy(&v, p, sizeof(T));
    return v;
  }
  static void store(uint8_t* p, int64_t v) {
    T t = static_cast<T>(static_cast<uint64_t>(v));
    std::memcpy(p, &t, sizeof(T));
  }
};

// NaN wins in max and min: the documentation is silent, and a NaN is noticed.
template <class T>
T larger(T a, T b) {
  return a != a ? a : b != b ? b : a > b ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a != a ? a : b != b ? b : a < b ? a : b;
}

template <class E>
void elementwise(const Op& op, uint8_t* dst, const uint8_t* a, const uint8_t* b) {
  using W = typename E::Wide;
  uint8_t raw[8];
  std::memcpy(raw, &op.scalar, 8);
  const W s = is_scalar(op.code) ? E::load(raw) : W(0);
  auto binary = [&](auto f) {
    for (int64_t i = 0; i < op.count; ++i) {
      E::store(dst + i * E::kBytes, f(E::load(a + i * E::kBytes), E::load(b + i * E::kBytes)));
    }
  };
  auto unary = [&](auto f) {
    for (int64_t i = 0; i < op.count; ++i) E::store(dst + i * E::kBytes, f(E::load(a + i * E::kBytes)));
  };
  switch (op.code) {
    case kOpAdd:
      return binary([](W x, W y) { return x + y; });
    case kOpSub:
      return binary([](W x, W y) { return x - y; });
    case kOpMul:
      return binary([](W x, W y) { return x * y; });
    case kOpMax:
      return binary([](W x, W y) { return larger(x, y); });
    case kOpMin:
      return binary([](W x, W y) { return smaller(x, y); });
    case kOpAdds:
      return unary([s](W x) { return x + s; });
    case kOpMuls:
      return unary([s](W x) { return x * s; });
    case kOpMaxs:
      return unary([s](W x) { return larger(x, s); });
    case kOpMins:
      return unary([s](W x) { return smaller(x, s); });
    case kOpAbs:
      return unary([](W x) { return x < 0 ? -x : x == 0 ? W(0) : x; });
    case kOpRelu:
      return unary([](W x) { return x < 0 ? W(0) : x; });
  }
  if constexpr (std::is_same_v<W, float>) {
    switch (op.code) {
      case kOpDiv:
        return binary([](W x, W y) { return x / y; });
      case kOpExp:
        return unary([](W x) { return std::exp(x); });
      case kOpLn:
        return unary([](W x) { return std::log(x); });
      case kOpSqrt:
        return unary([](W x) { return std::sqrt(x); });
      case kOpRsqrt:
        return unary([](W x) { return 1.0f / std::sqrt(x); });
      case kOpReciprocal:
        return unary([](W x) { return 1.0f / x; });
    }
  }
}

template <class E>
void reduce(const Op& op, uint8_t* dst, const uint8_t* src) {
  if (op.count <= 0) return;
  if (op.code == kOpReduceSum) {
    // "The first n elements" on A2/A3: a binary tree of neighbours inside each 256-byte repeat, the repeats in order.
    constexpr int64_t kRepeat = 256 / E::kBytes;
    uint8_t rounded[4];
    auto add = [&](float x, float y) {
      E::store(rounded, x + y);
      return E::load(rounded);
    };
    float sum = 0;
    for (int64_t base = 0; base < op.count; base += kRepeat) {
      float lane[kRepeat] = {};
      for (int64_t i = 0; i < kRepeat && base + i < op.count; ++i) lane[i] = E::load(src + (base + i) * E::kBytes);
      for (int64_t n = kRepeat / 2; n > 0; n /= 2) {
        for (int64_t i = 0; i < n; ++i) lane[i] = add(lane[2 * i], lane[2 * i + 1]);
      }
      sum = base ? add(sum, lane[0]) : lane[0];
    }
    E::store(dst, sum);
    return;
  }
  float best = E::load(src);
  int64_t index = 0;
  for (int64_t i = 1; i < op.count; ++i) {
    float x = E::load(src + i * E::kBytes);
    float next = op.code == kOpReduceMax ? larger(best, x) : smaller(best, x);
    if (next != best && best == best) best = next, index = i;
  }
  E::store(dst, best);
  std::memcpy(dst + E::kBytes, &index, E::kBytes);  // little endian: the index as an integer of the element's width
}

void cast(const Op& op, uint8_t* dst, const uint8_t* src) {
  const int to = bytes_of(op.type), from = bytes_of(op.from);
  // Widths may differ and dst may be src: through a copy.
  std::vector<uint8_t> in(src, src + op.count * from);
  for (int64_t i = 0; i < op.count; ++i) convert(op.type, dst + i * to, op.from, in.data() + i * from, op.rounding);
}

}  // namespace

void compute(const Op& op, uint8_t* dst, const uint8_t* src0, const uint8_t* src1) {
  if (op.code == kOpDuplicate) {
    const int n = bytes_of(op.type);
    for (int64_t i = 0; i < op.count; ++i) std::memcpy(dst + i * n, &op.scalar, n);
    return;
  }
  if (op.code == kOpCast) return cast(op, dst, src0);
  if (is_reduction(op.code)) return op.type == k_f16 ? reduce<F16>(op, dst, src0) : reduce<F32>(op, dst, src0);
  switch (op.type) {
    case k_f32:
      return elementwise<F32>(op, dst, src0, src1);
    case k_f16:
      return elementwise<F16>(op, dst, src0, src1);
    case k_i16:
      return elementwise<Int<int16_t>>(op, dst, src0, src1);
    case k_i32:
      return elementwise<Int<int32_t>>(op, dst, src0, src1);
  }
}

const char* refusal(const Op& op) {
  const uint8_t t = op.type;
  const bool real = t == k_f16 || t == k_f32, integer = t == k_i16 || t == k_i32;
  switch (op.code) {
    case kOpAdd:
    case kOpSub:
    case kOpMul:
    case kOpMax:
    case kOpMin:
    case kOpAdds:
    case kOpMuls:
    case kOpMaxs:
    case kOpMins:
      return real || integer ? nullptr : "it takes f16, f32, i16 and i32";
    case kOpRelu:
      return real || t == k_i32 ? nullptr : "it takes f16, f32 and i32";
    case kOpDuplicate:
      return bytes_of(t) == 2 || bytes_of(t) == 4 ? nullptr : "it takes 16-bit and 32-bit types";
    case kOpCast:
      return cast_refusal(op.type, op.from, op.rounding);
    case kOpCopyIn:
    case kOpCopyOut:
    case kOpCopyLocal:
      return nullptr;
    default:
      return real ? nullptr : "it takes f16 and f32";
  }
}

int64_t reduction_result_bytes(const Op& op) { return bytes_of(op.type) * (op.code == kOpReduceSum ? 1 : 2); }

int64_t reduction_temporary_bytes(const Op& op) {
  // The documented formulas; sizes in elements until the end.
  const int64_t size = bytes_of(op.type), block = 32 / size, repeat = 256 / size;
  auto parts = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t first = parts(op.count, repeat);
  if (op.code == kOpReduceSum) return parts(first, block) * block * size;
  const int64_t out1 = first * 2, align1 = parts(out1, block) * block;
  if (!op.want_index) return align1 * size;
  const int64_t out2 = parts(out1, repeat) * 2, align2 = parts(out2, block) * block;
  const int64_t out3 = parts(out2, repeat) * 2, align3 = parts(out3, block) * block;
  return (align1 + align2 + align3) * size;
}

}  // namespace tilewright::engine
