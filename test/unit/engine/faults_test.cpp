// One planted fault a case: each kind of report is seen, with its line, and nothing else is reported beside it.
#include <gtest/gtest.h>

#include "texts.h"

namespace tilewright::engine {
namespace {

struct Case {
  const char* name;
  const char* kinds;  // all kinds that are expected, joined by spaces; "" for a clean program
  uint32_t line;      // of the first fault, counted from the first line of `body` as 1; 0: not checked
  const char* body;   // between a preamble with tensors and the end of the kernel
  bool deferred_only = false;
  int cores = 1;
};

constexpr const char* kHead =
    "extern \"C\" __global__ __vector__ void KERNEL(GM_ADDR a, GM_ADDR b, GM_ADDR c, int32_t n) { using namespace "
    "AscendC; "
    "GlobalTensor<float> A, B, W; A.SetGlobalBuffer((__gm__ float*)a); B.SetGlobalBuffer((__gm__ float*)b); "
    "W.SetGlobalBuffer((__gm__ float*)c); LocalTensor<float> x(TPosition::VECIN, 0, 64), y(TPosition::VECCALC, 256, "
    "64), "
    "z(TPosition::VECOUT, 512, 64); DataCopyPadExtParams<float> none(false, 0, 0, 0.0f); int64_t me = GetBlockIdx();\n";

// A and B have 1024 floats, W has 1024 floats without values; n is 64.
const Case kCases[] = {
    {"clean_nothing", "", 0, "DataCopy(x, A, 64); PipeBarrier<PIPE_ALL>(); DataCopy(B, x, 64);"},
    // Order inside a core.
    {"raw", "raw", 2, "Duplicate(x, 1.0f, 64);\nDataCopy(B, x, 64);"},
    {"waw_pipes", "waw", 2, "Duplicate(x, 1.0f, 64);\nDataCopy(x, A, 64);"},
    {"war_pipes", "war", 3,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>();\nDataCopy(B, x, 64);\nDuplicate(x, 2.0f, 64);"},
    {"raw_vector", "raw", 2, "Duplicate(x, 1.0f, 64);\nAdds(y, x, 1.0f, 64);"},
    {"waw_vector", "waw", 2, "Duplicate(x, 1.0f, 64);\nDuplicate(x, 2.0f, 64);"},
    {"war_vector", "war", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_V>(); Adds(y, x, 1.0f, 64);\nDuplicate(x, 2.0f, 64);"},
    {"independent_vectors", "", 0, "Duplicate(x, 1.0f, 64); Duplicate(y, 2.0f, 64); Duplicate(z, 2.0f, 64);"},
    {"neighbours_do_not_conflict", "", 0,
     "Duplicate(x, 1.0f, 8); Duplicate(x[8], 2.0f, 8); Duplicate(x[16], 2.0f, 5);"},
    {"one_byte_range_conflicts", "waw", 2, "Duplicate(x, 1.0f, 9);\nDuplicate(x[8], 2.0f, 8);"},
    {"waw_loads", "waw", 2, "DataCopy(x, A, 64);\nDataCopy(x, A[64], 64);"},
    {"loads_with_barrier", "", 0, "DataCopy(x, A, 64); PipeBarrier<PIPE_MTE2>(); DataCopy(x, A[64], 64);"},
    {"waw_stores", "waw", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); DataCopy(B, x, 64);\nDataCopy(B[8], x, 56);"},
    {"stores_with_barrier", "", 0,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); DataCopy(B, x, 64); PipeBarrier<PIPE_MTE3>(); DataCopy(B[8], x, "
     "56);"},
    {"barrier_of_another_pipe", "waw", 2, "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_MTE2>();\nDuplicate(x, 2.0f, 64);"},
    {"padding_bytes_are_written", "waw", 2,
     "Duplicate(x, 1.0f, 8);\nDataCopyPad(x, A, DataCopyExtParams(1, 20, 0, 0, 0), none);"},
    {"padding_bytes_alone_conflict", "waw", 2,
     "x.SetValue(5, 1.0f);\nDataCopyPad(x, A, DataCopyExtParams(1, 20, 0, 0, 0), none);"},
    {"row_ends_before_the_next", "", 0,
     "x.SetValue(8, 1.0f); DataCopyPad(x, A, DataCopyExtParams(1, 20, 0, 0, 0), none);"},
    {"raw_global", "raw", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); DataCopy(W, x, 64);\nDataCopy(y, W[56], 8);"},
    {"global_round_trip", "", 0,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); DataCopy(W, x, 64); SetFlag<HardEvent::MTE3_MTE2>(0);"
     "WaitFlag<HardEvent::MTE3_MTE2>(0); DataCopy(y, W[56], 8);"},
    {"war_global", "war", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); DataCopy(y, A, 64);\nDataCopy(A, x, 64);"},
    {"order_through_a_third_pipe", "", 0,
     "DataCopy(x, A, 64); SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0); Duplicate(y, 0.0f, 8);"
     "SetFlag<HardEvent::V_MTE3>(0); WaitFlag<HardEvent::V_MTE3>(0); DataCopy(B, x, 64);"},
    {"flag_set_too_early", "raw", 3,
     "SetFlag<HardEvent::MTE2_V>(0);\nDataCopy(x, A, 64); WaitFlag<HardEvent::MTE2_V>(0);\nAdds(y, x, 1.0f, 64);"},
    {"wait_after_use", "raw", 2,
     "DataCopy(x, A, 64); SetFlag<HardEvent::MTE2_V>(0);\nAdds(y, x, 1.0f, 64);\nWaitFlag<HardEvent::MTE2_V>(0);"},
    // The scalar unit.
    {"raw_get_after_vector", "raw", 2, "Duplicate(x, 1.0f, 64);\nx.GetValue(3);"},
    {"raw_get_after_load", "raw", 2, "DataCopy(x, A, 64);\nx.GetValue(63);"},
    {"get_after_flag", "", 0,
     "DataCopy(x, A, 64); SetFlag<HardEvent::MTE2_S>(0); WaitFlag<HardEvent::MTE2_S>(0); x.GetValue(63);"},
    {"raw_store_after_set", "raw", 2, "for (int i = 0; i < 8; ++i) x.SetValue(i, 1.0f);\nDataCopy(B, x, 8);"},
    {"raw_vector_after_set", "raw", 2, "for (int i = 0; i < 8; ++i) x.SetValue(i, 1.0f);\nAdds(y, x, 1.0f, 8);"},
    {"war_vector_after_get", "war", 2,
     "x.SetValue(0, 1.0f); PipeBarrier<PIPE_ALL>(); x.GetValue(0);\nDuplicate(x, 2.0f, 8);"},
    {"war_load_after_get", "war", 2,
     "x.SetValue(0, 1.0f); PipeBarrier<PIPE_ALL>(); x.GetValue(0);\nDataCopy(x, A, 8);"},
    {"waw_load_after_set", "waw", 2, "x.SetValue(0, 1.0f);\nDataCopy(x, A, 8);"},
    {"scalar_is_in_order", "", 0, "x.SetValue(0, 1.0f); x.SetValue(0, 2.0f); x.GetValue(0); x.SetValue(0, 2.0f);"},
    {"issue_orders_after_a_scalar_wait", "", 0,
     "Duplicate(x, 1.0f, 64); SetFlag<HardEvent::V_S>(0); WaitFlag<HardEvent::V_S>(0); Adds(x, x, 1.0f, 64);"},
    // Scalar accesses to global memory and the data cache.
    {"get_global", "", 0, "A.GetValue(5); A.GetValue(6);"},
    {"set_global", "", 0, "W.SetValue(5, 1.0f); W.GetValue(5);"},
    {"dirty_line_read_by_load", "raw stale-cache", 2, "W.SetValue(3, 1.0f);\nDataCopy(x, W[0], 8);"},
    {"dirty_line_with_flag", "stale-cache", 2,
     "W.SetValue(3, 1.0f); SetFlag<HardEvent::S_MTE2>(0); WaitFlag<HardEvent::S_MTE2>(0);\nDataCopy(x, W[0], 8);"},
    {"cleaned_line_with_flag", "", 0,
     "W.SetValue(3, 1.0f); DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(W);"
     "SetFlag<HardEvent::S_MTE2>(0); WaitFlag<HardEvent::S_MTE2>(0); DataCopy(x, W[0], 8);"},
    {"cleaned_other_line", "stale-cache", 3,
     "W.SetValue(3, 1.0f);\nDataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(W[16]); "
     "PipeBarrier<PIPE_ALL>();\n"
     "DataCopy(x, W[0], 8);"},
    {"stale_line", "stale-cache", 3,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); A.GetValue(0);\nPipeBarrier<PIPE_ALL>(); DataCopy(A, x, 8); "
     "PipeBarrier<PIPE_ALL>();\nA.GetValue(0);"},
    {"other_bytes_of_a_stale_line", "", 0,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); A.GetValue(8); PipeBarrier<PIPE_ALL>(); DataCopy(A, x, 8); "
     "PipeBarrier<PIPE_ALL>(); A.GetValue(8);"},
    {"store_into_a_dirty_line", "stale-cache", 2,
     "Duplicate(x, 1.0f, 64); W.SetValue(0, 1.0f); PipeBarrier<PIPE_ALL>();\nDataCopy(W[8], x, 8);"},
    {"store_beside_a_dirty_line", "", 0,
     "Duplicate(x, 1.0f, 64); W.SetValue(0, 1.0f); PipeBarrier<PIPE_ALL>(); DataCopy(W[16], x, 8);"},
    {"set_into_a_stale_line", "stale-cache", 3,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); A.GetValue(0);\nPipeBarrier<PIPE_ALL>(); DataCopy(A, x, 8); "
     "PipeBarrier<PIPE_ALL>();\nA.SetValue(12, 1.0f);"},
    {"set_over_the_stale_bytes", "", 0,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); A.GetValue(0); PipeBarrier<PIPE_ALL>(); "
     "DataCopyPad(A, x, DataCopyExtParams(1, 4, 0, 0, 0)); PipeBarrier<PIPE_ALL>(); A.SetValue(0, 1.0f); "
     "A.GetValue(0);"},
    // Cores.
    {"cross_core_last_reader_writes", "cross-core", 2,
     "DataCopy(y, A, 64); PipeBarrier<PIPE_ALL>();\nif (me == 2) DataCopy(A, y, 64);", false, 3},
    {"cross_core_write", "cross-core", 1,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); DataCopy(B[me * 63], x, 64);", false, 2},
    {"cross_core_read", "cross-core", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); if (me == 0) DataCopy(A, x, 64);\nif (me == 1) DataCopy(y, "
     "A[32], 64);",
     false, 2},
    {"cross_core_write_after_read", "cross-core", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); if (me < 2) DataCopy(y, A[32], 64);\nif (me == 2) DataCopy(A, "
     "x, 64);",
     false, 3},
    {"cores_apart", "", 0, "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); DataCopy(B[me * 64], x, 64);", false, 4},
    {"cores_read_the_same", "", 0, "DataCopy(x, A, 64); A.GetValue(0);", false, 3},
    {"cross_core_cache_line", "cross-core", 1, "W.SetValue(me * 4, 1.0f);", false, 2},
    {"cross_core_cache_line_and_store", "cross-core", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>(); if (me == 0) W.SetValue(0, 1.0f);\nif (me == 1) DataCopy(W[8], "
     "x, 8);",
     false, 2},
    {"cores_in_lines_apart", "", 0, "W.SetValue(me * 16, 1.0f);", false, 3},
    // Bounds, values, alignment.
    {"past_argument", "out-of-bounds", 1, "DataCopy(x, A[1016], 16);"},
    {"before_argument", "out-of-bounds", 1, "DataCopy(x, A[-8], 8);"},
    {"store_past_argument", "out-of-bounds", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_ALL>();\nDataCopyPad(B[1023], x, DataCopyExtParams(1, 8, 0, 0, 0));"},
    {"past_given_size", "out-of-bounds", 2,
     "GlobalTensor<float> S; S.SetGlobalBuffer((__gm__ float*)a, 100);\nS.GetValue(100);"},
    {"past_tensor", "out-of-bounds", 1, "Duplicate(x, 1.0f, 65);"},
    {"past_memory", "out-of-bounds", 1, "LocalTensor<float> end(TPosition::VECCALC, 196320, 9);"},
    {"end_of_memory", "", 0, "LocalTensor<float> end(TPosition::VECCALC, 196320, 8); Duplicate(end, 1.0f, 8);"},
    {"rounded_row_fits", "", 0,
     "LocalTensor<float> five(TPosition::VECIN, 1024, 5); DataCopyPad(five, A, DataCopyExtParams(1, 20, 0, 0, 0), "
     "none);"},
    {"uninitialised_get", "uninitialised", 1, "x.GetValue(0);"},
    {"uninitialised_store", "uninitialised", 1, "DataCopy(B, x, 8);"},
    {"uninitialised_reduction", "uninitialised", 2,
     "Duplicate(x, 1.0f, 63);\nPipeBarrier<PIPE_V>(); ReduceMax(y, x, z, 64);"},
    {"uninitialised_passes_on", "uninitialised", 3,
     "Duplicate(x, 1.0f, 7); PipeBarrier<PIPE_V>(); Adds(y, x, 1.0f, 8); PipeBarrier<PIPE_V>(); Add(z, y, y, 8);\n"
     "PipeBarrier<PIPE_ALL>(); DataCopyPad(B, z, DataCopyExtParams(1, 28, 0, 0, 0)); z.GetValue(6);\nz.GetValue(7);"},
    {"uninitialised_low_half", "uninitialised", 2,
     "x.ReinterpretCast<half>().SetValue(1, half(1.0f)); PipeBarrier<PIPE_ALL>(); Adds(y, x, 1.0f, 1); "
     "PipeBarrier<PIPE_ALL>();\ny.GetValue(0);"},
    {"memory_is_new_for_each_core", "uninitialised", 2,
     "if (me == 0) Duplicate(x, 1.0f, 64);\nif (me == 1) x.GetValue(0);", false, 2},
    {"uninitialised_workspace", "uninitialised", 2, "DataCopy(x, W, 8); PipeBarrier<PIPE_ALL>();\nx.GetValue(0);"},
    {"padding_without_value", "uninitialised", 2,
     "DataCopyPad(x, A, DataCopyExtParams(1, 20, 0, 0, 0), none); PipeBarrier<PIPE_ALL>(); "
     "x.GetValue(4);\nx.GetValue(5);"},
    {"padding_value_needs_a_count", "uninitialised", 2,
     "DataCopyPad(x, A, DataCopyExtParams(1, 20, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 0, 1.0f)); "
     "PipeBarrier<PIPE_ALL>();\n"
     "x.GetValue(5);"},
    {"padding_with_value", "", 0,
     "DataCopyPad(x, A, DataCopyExtParams(1, 20, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 3, 1.0f)); "
     "PipeBarrier<PIPE_ALL>();"
     "x.GetValue(5);"},
    {"second_result_of_reduction", "uninitialised", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_V>(); ReduceMax(y, x, z, 64); PipeBarrier<PIPE_ALL>(); "
     "y.GetValue(0);\ny.GetValue(1);"},
    {"misaligned_tensor", "misaligned", 1, "LocalTensor<float> odd(TPosition::VECCALC, 1040, 8);"},
    {"misaligned_operand", "misaligned", 1, "Duplicate(x[4], 1.0f, 8);"},
    {"misaligned_copy", "misaligned", 1, "DataCopyPad(x[1], A, DataCopyExtParams(1, 4, 0, 0, 0), none);"},
    {"misaligned_reduction", "misaligned", 1,
     "Duplicate(x, 1.0f, 8); PipeBarrier<PIPE_V>(); ReduceMax(y[1], x, z, 8);"},
    {"aligned_reduction", "", 0,
     "Duplicate(x, 1.0f, 8); PipeBarrier<PIPE_V>(); ReduceMax(y[2], x, z, 8); ReduceSum(y[5], x, z[32], 8);"},
    {"small_temporary", "out-of-bounds", 1,
     "LocalTensor<float> big(TPosition::VECIN, 4096, 4096), t(TPosition::VECCALC, 2048, 120); Duplicate(big, 1.0f, "
     "4096); "
     "PipeBarrier<PIPE_V>(); ReduceMax(y, big, t, 4096);"},
    // Parameters.
    {"copy_size", "copy-size", 1, "DataCopy(x, A, 13);"},
    {"block_count", "block-count", 1, "DataCopyPad(x, A, DataCopyExtParams(4096, 4, 0, 0, 0), none);"},
    {"block_count_zero", "block-count", 1, "DataCopyPad(x, A, DataCopyExtParams(0, 4, 0, 0, 0), none);"},
    {"block_length_zero", "block-length", 1, "DataCopyPad(x, A, DataCopyExtParams(1, 0, 0, 0, 0), none);"},
    {"block_length_in_elements", "block-length", 1, "DataCopyPad(x, A, DataCopyExtParams(1, 13, 0, 0, 0), none);"},
    {"padding_too_wide", "padding", 1,
     "DataCopyPad(x, A, DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams<float>(true, 9, 0, 0));"},
    {"padding_of_64_bits", "padding", 1,
     "GlobalTensor<int64_t> L; L.SetGlobalBuffer((__gm__ int64_t*)a); LocalTensor<int64_t> l(TPosition::VECIN, 0, 8); "
     "DataCopyPad(l, L, DataCopyExtParams(1, 8, 0, 0, 0), DataCopyPadExtParams<int64_t>(true, 0, 1, 7));"},
    {"global_gap_in_elements", "stride-units", 1, "DataCopyPad(x, A, DataCopyExtParams(4, 16, 3, 0, 0), none);"},
    {"local_gap_in_bytes", "stride-units", 1, "DataCopyPad(x, A, DataCopyExtParams(4, 32, 0, 32, 0), none);"},
    {"local_gap_in_units", "", 0, "DataCopyPad(x, A, DataCopyExtParams(4, 32, 0, 1, 0), none);"},
    {"operand_overlap", "operand-overlap", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_V>();\nAdds(x[8], x, 1.0f, 16);"},
    {"cast_in_place", "operand-overlap", 2,
     "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_V>(); LocalTensor<half> h(TPosition::VECCALC, 0, 64);\n"
     "Cast(h, x, RoundMode::CAST_RINT, 64);"},
    {"in_place", "", 0, "Duplicate(x, 1.0f, 64); PipeBarrier<PIPE_V>(); Add(x, x, x, 64);"},
    {"unsupported_type", "unsupported-type", 1,
     "LocalTensor<bfloat16_t> h(TPosition::VECCALC, 1024, 16); Adds(h, h, bfloat16_t(1.0f), 16);"},
    {"unsupported_cast", "unsupported-type", 1,
     "LocalTensor<half> h(TPosition::VECCALC, 1024, 16); LocalTensor<bfloat16_t> g(TPosition::VECCALC, 1088, 16); "
     "Cast(h, g, RoundMode::CAST_RINT, 16);"},
    {"unsupported_rounding", "unsupported-type", 1,
     "LocalTensor<int32_t> i(TPosition::VECCALC, 1024, 16); Cast(i, x, RoundMode::CAST_NONE, 16);"},
    {"negative_count", "count", 1, "Duplicate(x, 1.0f, -1);"},
    {"zero_count", "", 0, "Duplicate(x, 1.0f, 0);"},
    // Flags.
    {"event_id_8", "event-id", 1, "SetFlag<HardEvent::MTE2_V>(8); WaitFlag<HardEvent::MTE2_V>(8);"},
    {"event_id_negative", "event-id", 1, "SetFlag<HardEvent::MTE2_V>(-1);"},
    {"unlisted_event", "unknown-event no-such-pipe", 1, "SetFlag<HardEvent::FIX_MTE1>(0);"},
    {"event_of_the_cube_core", "no-such-pipe", 1, "SetFlag<HardEvent::MTE1_M>(0);"},
    {"barrier_of_the_cube_core", "no-such-pipe", 1, "PipeBarrier<PIPE_M>();"},
    {"memory_of_the_cube_core", "no-such-memory", 1, "LocalTensor<float> l1(TPosition::A1, 0, 8);"},
    {"barrier_on_scalar", "barrier-on-scalar", 1, "PipeBarrier<PIPE_S>();"},
    {"double_set", "double-set", 2,
     "SetFlag<HardEvent::MTE2_V>(0);\nSetFlag<HardEvent::MTE2_V>(0);\nWaitFlag<HardEvent::MTE2_V>(0);"},
    {"two_ids", "", 0,
     "SetFlag<HardEvent::MTE2_V>(0); SetFlag<HardEvent::MTE2_V>(1); WaitFlag<HardEvent::MTE2_V>(1); "
     "WaitFlag<HardEvent::MTE2_V>(0);"},
    {"wait_without_set", "wait-without-set", 1, "WaitFlag<HardEvent::V_MTE2>(3);"},
    {"wait_for_another_id", "wait-without-set unmatched-set", 2,
     "SetFlag<HardEvent::V_MTE2>(2);\nWaitFlag<HardEvent::V_MTE2>(3);"},
    {"unmatched_set", "unmatched-set", 1, "SetFlag<HardEvent::V_MTE2>(7);"},
    {"event_reuse", "event-reuse", 2,
     "SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0);\nSetFlag<HardEvent::MTE2_V>(0); "
     "WaitFlag<HardEvent::MTE2_V>(0);"},
    {"event_reuse_with_way_back", "", 0,
     "for (int i = 0; i < 3; ++i) { SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0); "
     "SetFlag<HardEvent::V_MTE2>(0); "
     "WaitFlag<HardEvent::V_MTE2>(0); }"},
    {"scalar_waits_need_no_way_back", "", 0,
     "for (int i = 0; i < 3; ++i) { SetFlag<HardEvent::V_S>(0); WaitFlag<HardEvent::V_S>(0); }"},
    {"barrier_all_is_a_way_back", "", 0,
     "for (int i = 0; i < 3; ++i) { SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0); "
     "PipeBarrier<PIPE_ALL>(); }"},
};

std::string kinds_of(const Report& r) {
  std::string all;
  for (const Fault& f : r.faults) {
    if (all.find(f.kind) != std::string::npos) continue;
    all += (all.empty() ? "" : " ") + f.kind;
  }
  return all;
}

Report run(const Program& p, const Case& c, Options o) {
  std::vector<float> a(1024, 1.0f), b(1024, 2.0f), w(1024, 3.0f);
  return p.launch(c.name, c.cores,
                  {Argument::global(a.data(), 4096), Argument::global(b.data(), 4096),
                   Argument::global(w.data(), 4096, false), Argument::scalar(int32_t{64})},
                  o);
}

TEST(EngineFaults, EachPlantedFaultIsReportedAndNothingElse) {
  std::vector<Text> batch;
  for (const Case& c : kCases) batch.push_back(named(std::string(kHead) + c.body + "\n}\n", c.name));
  const Program p = Program::compile(batch);
  for (const Case& c : kCases) {
    for (bool deferred : {false, true}) {
      const Report r = run(p, c, {deferred, 5});
      std::string got = kinds_of(r);
      // A lost set also stops the queues when they are really run.
      if (deferred && got != c.kinds && got == std::string(c.kinds) + " deadlock") got = c.kinds;
      EXPECT_EQ(got, c.kinds) << c.name << (deferred ? " deferred\n" : "\n") << r.to_string();
      if (c.line && !r.clean()) {
        EXPECT_EQ(r.faults[0].line, c.line + 1) << c.name << '\n' << r.to_string();
      }
      for (const Fault& f : r.faults) {
        EXPECT_EQ(f.kernel, c.name);
        EXPECT_FALSE(f.sentence.empty());
      }
    }
  }
}

TEST(EngineFaults, ALostSetDeadlocksForSomeOrder) {
  const Program p = Program::compile(
      {named(std::string(kHead) +
                 "SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0);\n"
                 "SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0); Duplicate(x, 1.0f, 8);\n}\n",
             "lost"),
       named(std::string(kHead) +
                 "SetFlag<HardEvent::S_V>(0); WaitFlag<HardEvent::S_V>(0);\nSetFlag<HardEvent::S_V>(0); "
                 "WaitFlag<HardEvent::S_V>(0); SetFlag<HardEvent::V_S>(0);\nWaitFlag<HardEvent::V_S>(0);\n}\n",
             "lost_scalar")});
  for (const char* name : {"lost", "lost_scalar"}) {
    int deadlocks = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) deadlocks += run(p, {name, "", 0, ""}, {true, seed}).has("deadlock");
    EXPECT_GT(deadlocks, 2) << name;
    EXPECT_LT(deadlocks, 40) << name;
    EXPECT_FALSE(run(p, {name, "", 0, ""}, {}).has("deadlock"));
  }
}

TEST(EngineFaults, EqualFaultsAreOneWithACount) {
  const Program p =
      Program::compile({named(std::string(kHead) + "for (int i = 0; i < 10; ++i) x.GetValue(i);\n}\n", "many")});
  const Report r = run(p, {"many", "", 0, "", false, 3}, {});
  ASSERT_EQ(r.faults.size(), 1u);
  EXPECT_EQ(r.faults[0].count, 30);
  EXPECT_EQ(r.total, 30);
  EXPECT_EQ(r.faults[0].block, 0);
}

TEST(EngineFaults, TheListIsCappedAndTheTotalIsNot) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "x.GetValue(0);\n";
  const Program p = Program::compile({named(std::string(kHead) + body + "}\n", "long_list")});
  const Report r = run(p, {"long_list", "", 0, ""}, {});
  EXPECT_EQ(r.faults.size(), Report::kMaxFaults);
  EXPECT_EQ(r.total, 100);
  EXPECT_NE(r.to_string().find("and 36 more"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::engine
