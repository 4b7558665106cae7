#pragma once
// Hand-written Ascend C texts for the emulator's tests, and edits of them.
#include <string>
#include <string_view>
#include <vector>

#include "target/common/emulator/engine/engine.h"

namespace tilewright::engine {

/// c = a + b, n floats, tiles of 32 spread over the cores; single buffers, every hand-over with a flag.
/// Parameters (a, b, c, n). Lines that belong to one hand-over end with the same "// sync NAME".
inline constexpr std::string_view kAddText = R"(#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __vector__ void KERNEL(GM_ADDR a, GM_ADDR b, GM_ADDR c, int32_t n) {
  InitSocState();
  constexpr int32_t kTile = 32;
  GlobalTensor<float> A, B, C;
  A.SetGlobalBuffer((__gm__ float*)a, n);
  B.SetGlobalBuffer((__gm__ float*)b, n);
  C.SetGlobalBuffer((__gm__ float*)c, n);
  LocalTensor<float> x(TPosition::VECIN, 0, kTile);
  LocalTensor<float> y(TPosition::VECIN, 128, kTile);
  LocalTensor<float> z(TPosition::VECOUT, 256, kTile);
  SetFlag<HardEvent::V_MTE2>(0);   // sync inputs free
  SetFlag<HardEvent::MTE3_V>(0);   // sync output free
  for (int32_t t = GetBlockIdx(); t * kTile < n; t += GetBlockNum()) {
    uint32_t m = n - t * kTile < kTile ? n - t * kTile : kTile;
    WaitFlag<HardEvent::V_MTE2>(0);  // sync inputs free
    DataCopyPad(x, A[t * kTile], DataCopyExtParams(1, m * 4, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0));
    DataCopyPad(y, B[t * kTile], DataCopyExtParams(1, m * 4, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0));
    SetFlag<HardEvent::MTE2_V>(0);   // sync inputs full
    WaitFlag<HardEvent::MTE2_V>(0);  // sync inputs full
    WaitFlag<HardEvent::MTE3_V>(0);  // sync output free
    Add(z, x, y, m);
    SetFlag<HardEvent::V_MTE2>(0);   // sync inputs free
    SetFlag<HardEvent::V_MTE3>(1);   // sync output full
    WaitFlag<HardEvent::V_MTE3>(1);  // sync output full
    DataCopyPad(C[t * kTile], z, DataCopyExtParams(1, m * 4, 0, 0, 0));
    SetFlag<HardEvent::MTE3_V>(0);   // sync output free
  }
  WaitFlag<HardEvent::V_MTE2>(0);  // sync inputs free
  WaitFlag<HardEvent::MTE3_V>(0);  // sync output free
}
)";

/// b = a reversed, n floats, tiles of 32, by GetValue and SetValue. Parameters (a, b, n).
inline constexpr std::string_view kReverseText = R"(#include "kernel_operator.h"
extern "C" __global__ __aicore__ void KERNEL(GM_ADDR a, GM_ADDR b, int32_t n) {
  using namespace AscendC;
  constexpr int32_t kTile = 32;
  GlobalTensor<float> A, B;
  A.SetGlobalBuffer((__gm__ float*)a);
  B.SetGlobalBuffer((__gm__ float*)b);
  LocalTensor<float> x(TPosition::VECIN, 0, kTile), y(TPosition::VECOUT, 128, kTile);
  SetFlag<HardEvent::S_MTE2>(0);   // sync input free
  SetFlag<HardEvent::MTE3_S>(0);   // sync output free
  for (int32_t t = GetBlockIdx(); t * kTile < n; t += GetBlockNum()) {
    int32_t m = n - t * kTile < kTile ? n - t * kTile : kTile;
    WaitFlag<HardEvent::S_MTE2>(0);  // sync input free
    DataCopyPad(x, A[t * kTile], DataCopyExtParams(1, m * 4, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0));
    SetFlag<HardEvent::MTE2_S>(0);   // sync input full
    WaitFlag<HardEvent::MTE2_S>(0);  // sync input full
    WaitFlag<HardEvent::MTE3_S>(0);  // sync output free
    for (int32_t i = 0; i < m; ++i) y.SetValue(m - 1 - i, x.GetValue(i));
    SetFlag<HardEvent::S_MTE2>(0);   // sync input free
    SetFlag<HardEvent::S_MTE3>(0);   // sync output full
    WaitFlag<HardEvent::S_MTE3>(0);  // sync output full
    DataCopyPad(B[n - t * kTile - m], y, DataCopyExtParams(1, m * 4, 0, 0, 0));
    SetFlag<HardEvent::MTE3_S>(0);   // sync output free
  }
  WaitFlag<HardEvent::S_MTE2>(0);  // sync input free
  WaitFlag<HardEvent::MTE3_S>(0);  // sync output free
}
)";

/// b = softmax of each row of 2 a, (rows, cols) floats, a row a step. Parameters (a, b, rows, cols), cols <= 512.
inline constexpr std::string_view kSoftmaxText = R"(#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __vector__ void KERNEL(GM_ADDR a, GM_ADDR b, int32_t rows, int32_t cols) {
  GlobalTensor<float> A, B;
  A.SetGlobalBuffer((__gm__ float*)a);
  B.SetGlobalBuffer((__gm__ float*)b);
  LocalTensor<float> x(TPosition::VECIN, 0, 512), e(TPosition::VECOUT, 2048, 512);
  LocalTensor<float> tmp(TPosition::VECCALC, 4096, 512);
  LocalTensor<float> top(TPosition::VECCALC, 6144, 8), sum(TPosition::VECCALC, 6176, 8);
  DataCopyExtParams row(1, cols * 4, 0, 0, 0);
  SetFlag<HardEvent::V_MTE2>(0);   // sync input free
  SetFlag<HardEvent::MTE3_V>(0);   // sync output free
  for (int32_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {
    WaitFlag<HardEvent::V_MTE2>(0);  // sync input free
    DataCopyPad(x, A[r * cols], row, DataCopyPadExtParams<float>(false, 0, 0, 0));
    SetFlag<HardEvent::MTE2_V>(0);   // sync input full
    WaitFlag<HardEvent::MTE2_V>(0);  // sync input full
    Muls(x, x, 2.0f, cols);
    PipeBarrier<PIPE_V>();           // sync scaled
    ReduceMax(top, x, tmp, cols);
    SetFlag<HardEvent::V_S>(0);      // sync top
    WaitFlag<HardEvent::V_S>(0);     // sync top
    float most = top.GetValue(0);
    WaitFlag<HardEvent::MTE3_V>(0);  // sync output free
    Adds(e, x, -most, cols);
    SetFlag<HardEvent::V_MTE2>(0);   // sync input free
    PipeBarrier<PIPE_V>();           // sync shifted
    Exp(e, e, cols);
    PipeBarrier<PIPE_V>();           // sync powers
    ReduceSum(sum, e, tmp, cols);
    SetFlag<HardEvent::V_S>(1);      // sync sum
    WaitFlag<HardEvent::V_S>(1);     // sync sum
    float total = sum.GetValue(0);
    SetFlag<HardEvent::S_V>(0);      // sync results free
    WaitFlag<HardEvent::S_V>(0);     // sync results free
    Muls(e, e, 1.0f / total, cols);
    SetFlag<HardEvent::V_MTE3>(0);   // sync output full
    WaitFlag<HardEvent::V_MTE3>(0);  // sync output full
    DataCopyPad(B[r * cols], e, row);
    SetFlag<HardEvent::MTE3_V>(0);   // sync output free
  }
  WaitFlag<HardEvent::V_MTE2>(0);  // sync input free
  WaitFlag<HardEvent::MTE3_V>(0);  // sync output free
}
)";

/// `text` with its kernel named `name`.
Text named(std::string_view text, const std::string& name);
/// The names after "// sync ", each once, in order.
std::vector<std::string> syncs_of(std::string_view text);
/// `text` with every line of that sync emptied (other lines keep their numbers).
std::string without(std::string_view text, std::string_view sync);
/// One text for each line with a sync, with that line alone emptied.
std::vector<std::string> without_each_line(std::string_view text);

}  // namespace tilewright::engine
