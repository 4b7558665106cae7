// Copies between global memory and a local memory, and inside a local memory. Source of the rules: documentation of
// DataCopyPad (ISASI) and of basic data movement.
//   block b starts at b * (block_bytes + gap) on a side in GM (gap in bytes), and at b * (row + 32 * gap) in a local
//   memory, where row is the block rounded up to 32 bytes; into a local memory the padding belongs to the row:
//   left elements, the block, right elements, then dummy bytes up to a multiple of 32.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "target/common/emulator/engine/core.h"

namespace tilewright::engine {
using namespace tw_engine;

namespace {

constexpr uint8_t kPoison = 0xcd;

struct Shape {
  int64_t blocks, block;         // block: bytes that are copied
  int64_t left, right, row;      // local bytes: before, after, all of a row
  int64_t src_pitch, dst_pitch;  // from block to block
  bool fill;                     // the bytes of a row beside the block get the padding value
};

Shape shape_of(const Op& op) {
  Shape s;
  const int64_t size = bytes_of(op.type);
  s.blocks = static_cast<int64_t>(op.blocks);
  s.block = static_cast<int64_t>(op.block_bytes);
  if (op.exact_blocks) s.block = s.block / 32 * 32;  // DataCopy rounds its size down
  s.left = op.left * size;
  s.right = op.right * size;
  s.row = (s.left + s.block + s.right + 31) / 32 * 32;
  const int64_t gap_in = static_cast<int64_t>(op.src_gap), gap_out = static_cast<int64_t>(op.dst_gap);
  s.src_pitch = op.src0.memory == kGM ? s.block + gap_in : s.row + 32 * gap_in;
  s.dst_pitch = op.dst.memory == kGM ? s.block + gap_out : s.row + 32 * gap_out;
  // With both paddings zero the dummy bytes are not the padding value (the documentation names the block's first
  // element; older text, a random value): they count as bytes without a value.
  s.fill = op.pad && (op.left || op.right);
  return s;
}

}  // namespace

bool Core::check_copy(const Op& op, std::vector<Access>& accesses) {
  const char* what = name_of_op(op);
  const uint32_t line = op.line;
  const int64_t size = bytes_of(op.type);
  if (op.exact_blocks && op.block_bytes % 32) {
    fault("copy-size", line,
          fmt::format("DataCopy of {} bytes: not a multiple of 32, the last {} bytes are not copied", op.block_bytes,
                      op.block_bytes % 32));
  }
  if (op.blocks < 1 || op.blocks > 4095) {
    fault("block-count", line, fmt::format("{}: blockCount {} is outside 1 .. 4095", what, op.blocks));
    return false;
  }
  const uint64_t most = op.exact_blocks ? 65535ull * 32 : 2097151;
  if (op.block_bytes < 1 || op.block_bytes > most) {
    fault("block-length", line, fmt::format("{}: a block of {} bytes is outside 1 .. {}", what, op.block_bytes, most));
    return false;
  }
  if (op.left * size > 32 || op.right * size > 32) {
    fault("padding", line,
          fmt::format("{}: padding of {} and {} elements of {} bytes: each may have 32 bytes", what, op.left, op.right,
                      size));
    return false;
  }
  if (op.pad && size == 8 && op.scalar != 0) {
    fault("padding", line, fmt::format("{}: the padding value of a 64-bit type must be 0", what));
  }
  const Shape s = shape_of(op);
  if (s.block == 0) return false;
  if (!op.exact_blocks && op.block_bytes % static_cast<uint64_t>(size)) {
    fault("block-length", line,
          fmt::format("{}: a block of {} bytes is not whole elements of {} bytes", what, op.block_bytes, size));
  }
  const bool from_gm = op.src0.memory == kGM, to_gm = op.dst.memory == kGM;
  const uint64_t gm_gap = from_gm ? op.src_gap : to_gm ? op.dst_gap : 0;
  if (op.blocks > 1 && gm_gap % static_cast<uint64_t>(size)) {
    fault("stride-units", line,
          fmt::format("{}: a gap of {} bytes in GM is not whole elements of {} bytes (the gap in GM is in bytes)", what,
                      gm_gap, size));
  }
  bool ok = true;
  for (const Ref* ref : {&op.src0, &op.dst}) {
    if (ref->memory != kGM) {
      ok &= check_alignment(*ref, info_.memories[ref->memory].alignment, what, line);
    } else if (op.exact_blocks) {
      ok &= check_alignment(*ref, size, what, line);
    }
  }
  // A local gap that only fits when read as bytes.
  const Ref& local = from_gm ? op.dst : op.src0;
  const int64_t gap = static_cast<int64_t>(from_gm ? op.dst_gap : op.src_gap);
  const int64_t room = static_cast<int64_t>((local.end + 31) / 32 * 32) - static_cast<int64_t>(local.address);
  if (op.blocks > 1 && gap % 32 == 0 && gap > 0 && (s.blocks - 1) * (s.row + 32 * gap) + s.row > room &&
      (s.blocks - 1) * (s.row + gap) + s.row <= room) {
    fault("stride-units", line,
          fmt::format("{}: a local gap of {} leaves the tensor; local gaps are in units of 32 bytes, {} would fit",
                      what, gap, gap / 32));
    return false;
  }
  accesses.reserve(static_cast<size_t>(2 * s.blocks));
  for (int side = 0; side < 2; ++side) {
    const bool write = side == 1;
    const Ref& ref = write ? op.dst : op.src0;
    const int64_t pitch = write ? s.dst_pitch : s.src_pitch, length = write && !to_gm ? s.row : s.block;
    const bool joined = pitch == length;
    for (int64_t b = 0; b < (joined ? 1 : s.blocks) && ok; ++b) {
      Access a;
      ok = place(ref, b * pitch, joined ? s.blocks * length : length, write, what, line, a);
      accesses.push_back(a);
    }
  }
  if (ok && !from_gm && !to_gm) {
    const int64_t src = static_cast<int64_t>(op.src0.address), dst = static_cast<int64_t>(op.dst.address);
    const int64_t src_end = src + (s.blocks - 1) * s.src_pitch + s.block;
    const int64_t dst_end = dst + (s.blocks - 1) * s.dst_pitch + s.row;
    if (s.blocks == 1 && src != dst && src < dst_end && dst < src_end) {
      fault("operand-overlap", line,
            fmt::format("{}: source bytes [{}, {}) and destination bytes [{}, {}) of UB overlap in part", what, src,
                        src_end, dst, dst_end));
    }
  }
  return ok;
}

void Core::define_copy(const Op& op) {
  const Shape s = shape_of(op);
  const bool to_gm = op.dst.memory == kGM;
  for (int64_t b = 0; b < s.blocks; ++b) {
    Access from, to;
    place(op.src0, b * s.src_pitch, s.block, false, "", op.line, from);
    place(op.dst, b * s.dst_pitch, to_gm ? s.block : s.row, true, "", op.line, to);
    if (to_gm) {
      require_defined(from, kPipeMTE3, name_of_op(op), op.line);
      to.shadow->define(to.offset, to.bytes, true);
      continue;
    }
    std::vector<uint8_t> flags(from.shadow->defined() + from.offset, from.shadow->defined() + from.offset + s.block);
    to.shadow->define(to.offset, s.row, s.fill);
    std::memcpy(to.shadow->defined() + to.offset + s.left, flags.data(), flags.size());
  }
}

void Core::copy(const Op& op) {
  const Shape s = shape_of(op);
  const int64_t size = bytes_of(op.type);
  const bool to_gm = op.dst.memory == kGM;
  std::vector<uint8_t> block(static_cast<size_t>(s.block));
  for (int64_t b = 0; b < s.blocks; ++b) {
    std::memcpy(block.data(), bytes_at(op.src0, b * s.src_pitch), block.size());
    uint8_t* dst = bytes_at(op.dst, b * s.dst_pitch);
    if (to_gm) {
      std::memcpy(dst, block.data(), block.size());
      continue;
    }
    for (int64_t i = 0; i < s.row; ++i) {
      if (i == s.left) i += s.block;
      if (i >= s.row) break;
      // Fill bytes continue the element grid on their side of the block.
      const int64_t in_element = (i < s.left ? i : i - s.left - s.block) % size;
      dst[i] = s.fill ? static_cast<uint8_t>(op.scalar >> (8 * in_element)) : kPoison;
    }
    std::memcpy(dst + s.left, block.data(), block.size());
  }
}

}  // namespace tilewright::engine
