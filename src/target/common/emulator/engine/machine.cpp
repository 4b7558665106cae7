#include "target/common/emulator/engine/machine.h"

namespace tilewright::engine {
using namespace tw_engine;

// Usable bytes, alignments: documentation of LocalTensor and of the address constraints. The cube core's memories have
// size 0 here: an AIV core cannot address them.
const CoreInfo kAiv2201 = {
    "AIV",
    {{"UB", 196352, 32}, {"L1", 0, 32}, {"L0A", 0, 512}, {"L0B", 0, 512}, {"L0C", 0, 64}, {"BT", 0, 64}, {"FB", 0, 64}},
    {true, true, false, false, true, true, false},
    {false, true, true, true, true, true, true},
};

const EventInfo kEventTable[kEvents] = {
#define TW_X(from, to) {#from "_" #to, kPipe##from, kPipe##to, true},
    TW_ENGINE_EVENTS(TW_X)
#undef TW_X
#define TW_X(from, to) {#from "_" #to, kPipe##from, kPipe##to, false},
        TW_ENGINE_UNLISTED_EVENTS(TW_X)
#undef TW_X
};

const char* const kPipeNames[kPipeCount] = {
#define TW_X(name) #name,
    TW_ENGINE_PIPES(TW_X)
#undef TW_X
};

int bytes_of(uint8_t type) {
  static constexpr int kBytes[] = {
#define TW_X(name, type, bytes) bytes,
      TW_ENGINE_TYPES(TW_X)
#undef TW_X
  };
  return kBytes[type];
}

const char* name_of_type(uint8_t type) {
  static constexpr const char* kNames[] = {
#define TW_X(name, type, bytes) #name,
      TW_ENGINE_TYPES(TW_X)
#undef TW_X
  };
  return kNames[type];
}

const char* name_of_op(const Op& op) {
  static constexpr const char* kNames[] = {
#define TW_X(name) #name,
      TW_ENGINE_BINARY(TW_X) TW_ENGINE_SCALAR(TW_X) TW_ENGINE_UNARY(TW_X)
#undef TW_X
          "Duplicate",
      "Cast", "ReduceMax", "ReduceMin", "ReduceSum"};
  if (op.code >= kOpCopyIn) return op.exact_blocks ? "DataCopy" : "DataCopyPad";
  return kNames[op.code];
}

Pipe pipe_of(const Op& op) {
  if (op.code == kOpCopyIn) return kPipeMTE2;
  if (op.code == kOpCopyOut) return kPipeMTE3;
  return kPipeV;  // vector operations, and DataCopy from UB to UB
}

}  // namespace tilewright::engine
