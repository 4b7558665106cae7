#ifndef TW_ENGINE_ABI_H
#define TW_ENGINE_ABI_H
// What a compiled kernel text and the engine emulator say to each other: plain structs and one table of functions.
// The host includes this file; it is also embedded, in front of ascendc.device.h, in every compiled batch of texts.
#include <cstdint>

namespace tw_engine {

// Pipes, in the order of all tables. On an AIV core: S V MTE2 MTE3; on an AIC core: S M MTE1 MTE2 MTE3 FIX.
#define TW_ENGINE_PIPES(X) X(S) X(V) X(M) X(MTE1) X(MTE2) X(MTE3) X(FIX)
enum Pipe : uint8_t {
#define TW_X(name) kPipe##name,
  TW_ENGINE_PIPES(TW_X)
#undef TW_X
      kPipeCount,
  kPipeAll = kPipeCount
};

enum Memory : uint8_t { kUB, kL1, kL0A, kL0B, kL0C, kBias, kFixbuf, kLocalMemories, kGM = kLocalMemories };

// Element types: name, C++ type in a kernel text, bytes.
#define TW_ENGINE_TYPES(X)                                                                                        \
  X(f16, half, 2)                                                                                                 \
  X(bf16, bfloat16_t, 2) X(f32, float, 4) X(f64, double, 8) X(i8, int8_t, 1) X(u8, uint8_t, 1) X(i16, int16_t, 2) \
      X(u16, uint16_t, 2) X(i32, int32_t, 4) X(u32, uint32_t, 4) X(i64, int64_t, 8) X(u64, uint64_t, 8)
enum Type : uint8_t {
#define TW_X(name, type, bytes) k_##name,
  TW_ENGINE_TYPES(TW_X)
#undef TW_X
};

// Events "source_destination". The first list is the public one of the documentation of SetFlag/WaitFlag (ISASI); the
// second completes the pairs of pipes, so that a text that uses one of them compiles and is reported.
#define TW_ENGINE_EVENTS(X)                                                                                     \
  X(MTE2, MTE1)                                                                                                 \
  X(MTE1, MTE2) X(MTE1, M) X(M, MTE1) X(MTE2, V) X(V, MTE2) X(MTE3, V) X(V, MTE3) X(M, V) X(V, M) X(V, V)       \
      X(MTE3, MTE1) X(MTE1, MTE3) X(MTE1, V) X(MTE2, M) X(M, MTE2) X(V, MTE1) X(M, FIX) X(FIX, M) X(MTE3, MTE2) \
          X(MTE2, MTE3) X(S, V) X(V, S) X(S, MTE2) X(MTE2, S) X(S, MTE3) X(MTE3, S) X(MTE2, FIX) X(FIX, MTE2)   \
              X(FIX, S) X(M, S) X(FIX, MTE3)
#define TW_ENGINE_UNLISTED_EVENTS(X) \
  X(S, M)                            \
  X(S, MTE1) X(S, FIX) X(V, FIX) X(M, MTE3) X(MTE1, S) X(MTE1, FIX) X(MTE3, M) X(MTE3, FIX) X(FIX, V) X(FIX, MTE1)

#define TW_ENGINE_BINARY(X) X(Add) X(Sub) X(Mul) X(Div) X(Max) X(Min)
#define TW_ENGINE_SCALAR(X) X(Adds) X(Muls) X(Maxs) X(Mins)
#define TW_ENGINE_UNARY(X) X(Exp) X(Ln) X(Abs) X(Sqrt) X(Rsqrt) X(Reciprocal) X(Relu)
enum Code : uint8_t {
#define TW_X(name) kOp##name,
  TW_ENGINE_BINARY(TW_X) TW_ENGINE_SCALAR(TW_X) TW_ENGINE_UNARY(TW_X)
#undef TW_X
      kOpDuplicate,
  kOpCast,
  kOpReduceMax,
  kOpReduceMin,
  kOpReduceSum,
  kOpCopyIn,     // GM -> local, DataCopyPad or DataCopy
  kOpCopyOut,    // local -> GM
  kOpCopyLocal,  // local -> local
};

/// A place in a memory: a byte address (GM: an address of the launch) and the extent of the tensor that it belongs to
/// (begin == end: unknown).
struct Ref {
  uint64_t address = 0, begin = 0, end = 0;
  uint8_t memory = kUB;
};

/// One call of the API.
struct Op {
  uint8_t code = 0, type = 0, from = 0;  // element type; type of the source of a Cast
  uint8_t rounding = 0;                  // RoundMode of a Cast
  bool want_index = false;               // ReduceMax, ReduceMin
  bool exact_blocks = false;             // a copy whose block length is in 32-byte units (DataCopy): no padding
  bool pad = false;                      // isPad
  uint32_t left = 0, right = 0;          // padding in elements
  uint32_t line = 0;
  Ref dst, src0, src1;                   // src1 of a reduction is its temporary
  int64_t count = 0;                     // elements
  uint64_t scalar = 0;                   // bits of a scalar operand or padding value, of `type`
  uint64_t blocks = 0, block_bytes = 0;  // of a copy
  uint64_t src_gap = 0, dst_gap = 0;     // of a copy: bytes in GM, 32-byte units in a local memory
};

/// The functions that the emulator gives to a kernel text. `self` is the running core.
struct Api {
  void* self;
  int64_t block, blocks;
  void (*issue)(void* self, const Op* op);
  void (*scalar_read)(void* self, const Ref* at, uint32_t bytes, void* out, uint32_t line);
  void (*scalar_write)(void* self, const Ref* at, uint32_t bytes, const void* in, uint32_t line);
  void (*set_flag)(void* self, int event, int64_t id, uint32_t line);
  void (*wait_flag)(void* self, int event, int64_t id, uint32_t line);
  void (*barrier)(void* self, int pipe, uint32_t line);
  void (*local_tensor)(void* self, const Ref* tensor, uint32_t line);
  void (*clean_cache)(void* self, const Ref* line_of, bool entire, uint32_t line);
};

/// One kernel of a batch. `size[i]` is the size of parameter i in bytes, 0 for a global address.
struct Entry {
  const char* name;
  int parameters;
  const uint32_t* size;
  void (*call)(const uint64_t* arguments);
};

}  // namespace tw_engine
#endif
