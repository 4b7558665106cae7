#ifndef TW_ENGINE_ASCENDC_H
#define TW_ENGINE_ASCENDC_H
// The Ascend C names of the vector core (A2/A3, __NPU_ARCH__ 2201) for a kernel text that runs on the engine emulator.
// Each call becomes one tw_engine::Op; nothing is computed here but scalars. Written from the public API documentation.
#include <math.h>

#include <cstring>
#include <type_traits>
#ifndef TW_ENGINE_ABI_H
#include "abi.device.h"
#endif

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#define __global__
#define __aicore__
#define __gm__
#define __ubuf__
#define __vector__
#define __cube__
#define __mix__(cubes, vectors)
#define GM_ADDR __gm__ uint8_t*
#define ASCEND_IS_AIV (true)
#define ASCEND_IS_AIC (false)

/// IEEE binary16 as storage: arithmetic goes through float, conversion rounds to nearest even.
struct half {
  uint16_t bits;
  half() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  half(T value) : bits(round(static_cast<float>(value))) {}
  operator float() const {
    uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023, u;
    if (exponent == 31) {
      u = sign | 0x7f800000u | mantissa << 13;
    } else if (exponent) {
      u = sign | (exponent + 112) << 23 | mantissa << 13;
    } else {
      float f = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // mantissa * 2^-24
      return sign ? -f : f;
    }
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  }

 private:
  static uint16_t round(float f) {
    uint32_t u;
    std::memcpy(&u, &f, 4);
    uint32_t sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
    if (a >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (a < 0x38800000u) {  // below 2^-14: a multiple of 2^-24; adding 0.5 in float rounds there to nearest even
      float x;
      std::memcpy(&x, &a, 4);
      x += 0.5f;
      std::memcpy(&a, &x, 4);
      return static_cast<uint16_t>(sign | (a - 0x3f000000u));
    }
    return static_cast<uint16_t>(sign | ((a - 0x38000000u + 0xfffu + (a >> 13 & 1u)) >> 13));
  }
};

/// bfloat16 as storage.
struct bfloat16_t {
  uint16_t bits;
  bfloat16_t() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  bfloat16_t(T value) {
    float f = static_cast<float>(value);
    uint32_t u;
    std::memcpy(&u, &f, 4);
    bits =
        static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16);
  }
  operator float() const {
    uint32_t u = static_cast<uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  }
};

enum pipe_t {
#define TW_X(name) PIPE_##name = tw_engine::kPipe##name,
  TW_ENGINE_PIPES(TW_X)
#undef TW_X
      PIPE_ALL = tw_engine::kPipeAll
};

namespace tw_engine {
inline const Api* api = nullptr;

template <class T>
inline constexpr int type_of = -1;
#define TW_X(name, type, bytes)                  \
  template <>                                    \
  inline constexpr int type_of<type> = k_##name; \
  static_assert(sizeof(type) == bytes, "type size");
TW_ENGINE_TYPES(TW_X)
#undef TW_X

template <class T>
inline uint64_t bits_of(const T& value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
struct Parameter {
  static constexpr uint32_t size = sizeof(T);
  static T get(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
};
template <class T>
struct Parameter<T*> {
  static constexpr uint32_t size = 0;
  static T* get(uint64_t bits) { return reinterpret_cast<T*>(bits); }
};

// Calls a kernel function with arguments that lie in 64-bit slots.
template <auto kernel>
struct Thunk;
template <class... A, void (*kernel)(A...)>
struct Thunk<kernel> {
  static constexpr int count = sizeof...(A);
  static constexpr uint32_t sizes[count + 1] = {Parameter<A>::size..., 0};
  static void call(const uint64_t* slots) {
    const uint64_t* next = slots;
    (void)next;
    invoke(slots, static_cast<Indices<A...>*>(nullptr));
  }

 private:
  template <class...>
  struct Indices {};
  template <class... B>
  static void invoke(const uint64_t* slots, Indices<B...>*) {
    int i = 0;
    (void)i, (void)slots;
    struct Call {
      Call(B... values) { kernel(values...); }
    };
    Call{Parameter<B>::get(slots[i++])...};  // braces: evaluated from left to right
  }
};
}  // namespace tw_engine

namespace AscendC {

enum class TPosition : uint8_t { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, TSCM, SPM, C2PIPE2GM };
enum class RoundMode : uint8_t { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD };
enum class HardEvent : uint8_t {
#define TW_X(from, to) from##_##to,
  TW_ENGINE_EVENTS(TW_X) TW_ENGINE_UNLISTED_EVENTS(TW_X)
#undef TW_X
};
enum class CacheLine : uint8_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint8_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

constexpr tw_engine::Memory tw_memory_of(TPosition p) {
  switch (p) {
    case TPosition::GM:
    case TPosition::CO2:
    case TPosition::SPM:
      return tw_engine::kGM;
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM:
      return tw_engine::kL1;
    case TPosition::A2:
      return tw_engine::kL0A;
    case TPosition::B2:
      return tw_engine::kL0B;
    case TPosition::C2:
      return tw_engine::kBias;
    case TPosition::CO1:
      return tw_engine::kL0C;
    case TPosition::C2PIPE2GM:
      return tw_engine::kFixbuf;
    default:
      return tw_engine::kUB;
  }
}

template <class T>
class LocalTensor {
 public:
  using PrimType = T;
  LocalTensor() = default;
  /// `count` elements of a local memory from byte `address` on.
  LocalTensor(TPosition position, uint32_t address, uint32_t count, uint32_t line = __builtin_LINE()) {
    tw_ref.address = tw_ref.begin = address;
    tw_ref.end = address + static_cast<uint64_t>(count) * sizeof(T);
    tw_ref.memory = tw_memory_of(position);
    tw_engine::api->local_tensor(tw_engine::api->self, &tw_ref, line);
  }
  LocalTensor operator[](uint32_t offset) const {
    LocalTensor r = *this;
    r.tw_ref.address += static_cast<uint64_t>(offset) * sizeof(T);
    return r;
  }
  T GetValue(uint32_t index, uint32_t line = __builtin_LINE()) const {
    T value;
    LocalTensor r = (*this)[index];
    tw_engine::api->scalar_read(tw_engine::api->self, &r.tw_ref, sizeof(T), &value, line);
    return value;
  }
  void SetValue(uint32_t index, T value, uint32_t line = __builtin_LINE()) const {
    LocalTensor r = (*this)[index];
    tw_engine::api->scalar_write(tw_engine::api->self, &r.tw_ref, sizeof(T), &value, line);
  }
  uint32_t GetSize() const { return static_cast<uint32_t>((tw_ref.end - tw_ref.address) / sizeof(T)); }
  uint64_t GetPhyAddr() const { return tw_ref.address; }
  template <class U>
  LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> r;
    r.tw_ref = tw_ref;
    return r;
  }
  tw_engine::Ref tw_ref;
};

template <class T>
class GlobalTensor {
 public:
  using PrimType = T;
  /// `size` in elements; 0: not given.
  void SetGlobalBuffer(__gm__ T* buffer, uint64_t size = 0) {
    tw_ref.memory = tw_engine::kGM;
    tw_ref.address = tw_ref.begin = reinterpret_cast<uint64_t>(buffer);
    tw_ref.end = tw_ref.begin + size * sizeof(T);
  }
  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor r = *this;
    r.tw_ref.address += offset * sizeof(T);
    return r;
  }
  T GetValue(uint64_t offset, uint32_t line = __builtin_LINE()) const {
    T value;
    GlobalTensor r = (*this)[offset];
    tw_engine::api->scalar_read(tw_engine::api->self, &r.tw_ref, sizeof(T), &value, line);
    return value;
  }
  void SetValue(uint64_t offset, T value, uint32_t line = __builtin_LINE()) const {
    GlobalTensor r = (*this)[offset];
    tw_engine::api->scalar_write(tw_engine::api->self, &r.tw_ref, sizeof(T), &value, line);
  }
  uint64_t GetSize() const { return (tw_ref.end - tw_ref.begin) / sizeof(T); }
  __gm__ T* GetPhyAddr(uint64_t offset = 0) const { return reinterpret_cast<T*>(tw_ref.address + offset * sizeof(T)); }
  template <class U>
  GlobalTensor<U> ReinterpretCast() const {
    GlobalTensor<U> r;
    r.tw_ref = tw_ref;
    return r;
  }
  tw_engine::Ref tw_ref;
};

struct DataCopyExtParams {
  uint16_t blockCount = 1;
  uint32_t blockLen = 0;   // bytes
  uint32_t srcStride = 0;  // gap: bytes in GM, 32-byte units in a local memory
  uint32_t dstStride = 0;
  uint32_t rsv = 0;
  DataCopyExtParams() = default;
  DataCopyExtParams(uint16_t count, uint32_t length, uint32_t source, uint32_t destination, uint32_t reserved)
      : blockCount(count), blockLen(length), srcStride(source), dstStride(destination), rsv(reserved) {}
};
template <class T>
struct DataCopyPadExtParams {
  bool isPad = false;
  uint8_t leftPadding = 0, rightPadding = 0;  // elements
  T paddingValue = T(0);
  DataCopyPadExtParams() = default;
  DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};
struct DataCopyParams {
  uint16_t blockCount = 1;
  uint16_t blockLen = 0;                  // 32-byte units in DataCopy, bytes in DataCopyPad
  uint16_t srcStride = 0, dstStride = 0;  // DataCopy: gaps in 32-byte units on both sides
  DataCopyParams() = default;
  DataCopyParams(uint16_t count, uint16_t length, uint16_t source, uint16_t destination)
      : blockCount(count), blockLen(length), srcStride(source), dstStride(destination) {}
};
struct DataCopyPadParams {
  bool isPad = false;
  uint8_t leftPadding = 0, rightPadding = 0;
  uint64_t paddingValue = 0;
};

inline void tw_issue(tw_engine::Op& op) { tw_engine::api->issue(tw_engine::api->self, &op); }

template <class D, class S>
inline tw_engine::Op tw_copy(uint8_t code, const D& dst, const S& src, uint32_t line) {
  using T = typename D::PrimType;
  static_assert(std::is_same_v<T, typename S::PrimType>, "both sides of a copy have one element type");
  static_assert(tw_engine::type_of<T> >= 0, "element type without a copy");
  tw_engine::Op op;
  op.code = code;
  op.type = static_cast<uint8_t>(tw_engine::type_of<T>);
  op.dst = dst.tw_ref;
  op.src0 = src.tw_ref;
  op.line = line;
  return op;
}

inline void tw_blocks(tw_engine::Op& op, uint64_t count, uint64_t bytes, uint64_t src_gap, uint64_t dst_gap) {
  op.blocks = count, op.block_bytes = bytes, op.src_gap = src_gap, op.dst_gap = dst_gap;
}

template <class T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& p,
                 const DataCopyPadExtParams<T>& pad, uint32_t line = __builtin_LINE()) {
  auto op = tw_copy(tw_engine::kOpCopyIn, dst, src, line);
  tw_blocks(op, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
  op.pad = pad.isPad, op.left = pad.leftPadding, op.right = pad.rightPadding;
  op.scalar = tw_engine::bits_of(pad.paddingValue);
  tw_issue(op);
}
template <class T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& p,
                 uint32_t line = __builtin_LINE()) {
  auto op = tw_copy(tw_engine::kOpCopyOut, dst, src, line);
  tw_blocks(op, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
  tw_issue(op);
}
template <class T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& p,
                 const DataCopyPadParams& pad, uint32_t line = __builtin_LINE()) {
  auto op = tw_copy(tw_engine::kOpCopyIn, dst, src, line);
  tw_blocks(op, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
  op.pad = pad.isPad, op.left = pad.leftPadding, op.right = pad.rightPadding, op.scalar = pad.paddingValue;
  tw_issue(op);
}
template <class T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& p,
                 uint32_t line = __builtin_LINE()) {
  auto op = tw_copy(tw_engine::kOpCopyOut, dst, src, line);
  tw_blocks(op, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
  tw_issue(op);
}

// DataCopy: contiguous, and blocks with gaps; everything in 32-byte units.
#define TW_X(code, Dst, Src)                                                                                       \
  template <class T>                                                                                               \
  void DataCopy(const Dst<T>& dst, const Src<T>& src, uint32_t count, uint32_t line = __builtin_LINE()) {          \
    auto op = tw_copy(tw_engine::code, dst, src, line);                                                            \
    op.exact_blocks = true;                                                                                        \
    tw_blocks(op, 1, static_cast<uint64_t>(count) * sizeof(T), 0, 0);                                              \
    tw_issue(op);                                                                                                  \
  }                                                                                                                \
  template <class T>                                                                                               \
  void DataCopy(const Dst<T>& dst, const Src<T>& src, const DataCopyParams& p, uint32_t line = __builtin_LINE()) { \
    auto op = tw_copy(tw_engine::code, dst, src, line);                                                            \
    op.exact_blocks = true;                                                                                        \
    tw_blocks(op, p.blockCount, p.blockLen * 32ull, p.srcStride, p.dstStride);                                     \
    if (tw_engine::code == tw_engine::kOpCopyIn) op.src_gap *= 32;                                                 \
    if (tw_engine::code == tw_engine::kOpCopyOut) op.dst_gap *= 32;                                                \
    tw_issue(op);                                                                                                  \
  }
TW_X(kOpCopyIn, LocalTensor, GlobalTensor)
TW_X(kOpCopyOut, GlobalTensor, LocalTensor)
TW_X(kOpCopyLocal, LocalTensor, LocalTensor)
#undef TW_X

template <class T>
inline tw_engine::Op tw_vector(uint8_t code, const LocalTensor<T>& dst, int64_t count, uint32_t line) {
  static_assert(tw_engine::type_of<T> >= 0, "element type without vector operations");
  tw_engine::Op op;
  op.code = code;
  op.type = static_cast<uint8_t>(tw_engine::type_of<T>);
  op.dst = dst.tw_ref;
  op.count = count;
  op.line = line;
  return op;
}

#define TW_X(Name)                                                                                            \
  template <class T>                                                                                          \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, int32_t count, \
            uint32_t line = __builtin_LINE()) {                                                               \
    auto op = tw_vector(tw_engine::kOp##Name, dst, count, line);                                              \
    op.src0 = src0.tw_ref, op.src1 = src1.tw_ref;                                                             \
    tw_issue(op);                                                                                             \
  }
TW_ENGINE_BINARY(TW_X)
#undef TW_X
#define TW_X(Name)                                                                                \
  template <class T>                                                                              \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, int32_t count, \
            uint32_t line = __builtin_LINE()) {                                                   \
    auto op = tw_vector(tw_engine::kOp##Name, dst, count, line);                                  \
    op.src0 = src.tw_ref, op.scalar = tw_engine::bits_of(scalar);                                 \
    tw_issue(op);                                                                                 \
  }
TW_ENGINE_SCALAR(TW_X)
#undef TW_X
#define TW_X(Name)                                                                                                   \
  template <class T>                                                                                                 \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t count, uint32_t line = __builtin_LINE()) { \
    auto op = tw_vector(tw_engine::kOp##Name, dst, count, line);                                                     \
    op.src0 = src.tw_ref;                                                                                            \
    tw_issue(op);                                                                                                    \
  }
TW_ENGINE_UNARY(TW_X)
#undef TW_X

template <class T>
void Duplicate(const LocalTensor<T>& dst, const T& value, int32_t count, uint32_t line = __builtin_LINE()) {
  auto op = tw_vector(tw_engine::kOpDuplicate, dst, count, line);
  op.scalar = tw_engine::bits_of(value);
  tw_issue(op);
}
template <class D, class S>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, RoundMode mode, uint32_t count,
          uint32_t line = __builtin_LINE()) {
  static_assert(tw_engine::type_of<S> >= 0, "element type without vector operations");
  auto op = tw_vector(tw_engine::kOpCast, dst, count, line);
  op.src0 = src.tw_ref, op.from = static_cast<uint8_t>(tw_engine::type_of<S>), op.rounding = static_cast<uint8_t>(mode);
  tw_issue(op);
}
#define TW_X(Name)                                                                                                \
  template <class T>                                                                                              \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& temporary, int32_t count, \
            bool want_index = false, uint32_t line = __builtin_LINE()) {                                          \
    auto op = tw_vector(tw_engine::kOp##Name, dst, count, line);                                                  \
    op.src0 = src.tw_ref, op.src1 = temporary.tw_ref, op.want_index = want_index;                                 \
    tw_issue(op);                                                                                                 \
  }
TW_X(ReduceMax)
TW_X(ReduceMin)
#undef TW_X
template <class T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& temporary, int32_t count,
               uint32_t line = __builtin_LINE()) {
  auto op = tw_vector(tw_engine::kOpReduceSum, dst, count, line);
  op.src0 = src.tw_ref, op.src1 = temporary.tw_ref;
  tw_issue(op);
}

template <HardEvent event>
void SetFlag(int32_t id, uint32_t line = __builtin_LINE()) {
  tw_engine::api->set_flag(tw_engine::api->self, static_cast<int>(event), id, line);
}
template <HardEvent event>
void WaitFlag(int32_t id, uint32_t line = __builtin_LINE()) {
  tw_engine::api->wait_flag(tw_engine::api->self, static_cast<int>(event), id, line);
}
template <pipe_t pipe>
void PipeBarrier(uint32_t line = __builtin_LINE()) {
  tw_engine::api->barrier(tw_engine::api->self, static_cast<int>(pipe), line);
}
template <class T, CacheLine entire, DcciDst = DcciDst::CACHELINE_ALL>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& at, uint32_t line = __builtin_LINE()) {
  tw_engine::api->clean_cache(tw_engine::api->self, &at.tw_ref, entire == CacheLine::ENTIRE_DATA_CACHE, line);
}

// Conversions of scalars; those between half and float are casts.
inline float ToFloat(const bfloat16_t& value) { return static_cast<float>(value); }
inline bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }

inline int64_t GetBlockIdx() { return tw_engine::api->block; }
inline int64_t GetBlockNum() { return tw_engine::api->blocks; }
inline void InitSocState() {}

}  // namespace AscendC

constexpr int EVENT_ID0 = 0, EVENT_ID1 = 1, EVENT_ID2 = 2, EVENT_ID3 = 3, EVENT_ID4 = 4, EVENT_ID5 = 5, EVENT_ID6 = 6,
              EVENT_ID7 = 7;
#endif
