#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "ir/build.h"
#include "ir/region.h"
#include "ir/walk.h"
#include "pass/distribution.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

struct Placed {
  Ref<Buffer> buffer;
  int64_t offset, bytes;
};

/// The buffer with its last axis widened so that every row begins at a multiple of the memory's row alignment.
Ref<Buffer> with_aligned_rows(const Ref<Buffer>& b, const Memory& memory) {
  if (b->shape.size() < 2 || memory.row_alignment == 1) return b;
  int64_t width = 0;
  TW_CHECK(is_constant(b->shape.back(), &width), fmt::format("{}: a tile's extent is not a constant", b->name));
  Exprs shape = b->shape;
  while (b->dtype.bytes(width) % memory.row_alignment) ++width;
  shape.back() = index(width);
  return altered(*b, [&](Buffer& o) { o.shape = shape; });
}

/// Bytes of the memory that a tile takes: of a thread's memory, its slots.
int64_t bytes_of(const Buffer& b) {
  return b.dtype.bytes(b.layout.empty() ? element_count(b) : Distribution::of(parse_layout(b.layout)).slots());
}

std::string table(const std::vector<Placed>& placed, const Memory& memory) {
  int64_t total = 0;
  std::string text;
  for (const Placed& p : placed) {
    if (p.buffer->memory != memory.name) continue;
    text += fmt::format("\n  {:<12} {:>10} bytes at {:>10}", p.buffer->name, p.bytes, p.offset);
    total = std::max(total, p.offset + p.bytes);
  }
  return fmt::format("{}: {} of {} bytes{}", memory.name, total, memory.bytes, text);
}

/// One phase: every alloc in program order gets the next aligned address of its memory.
std::vector<Placed> place_buffers(const Stmt& phase, const Caps& caps) {
  std::map<std::string, int64_t> used;
  std::vector<Placed> placed;
  post_order(phase, [&](const Node& node) {
    const auto* alloc = as<Alloc>(&node);
    if (!alloc) return;
    const Memory* memory = caps.memory(alloc->buffer->memory);
    TW_CHECK(memory, fmt::format("{}: no memory named '{}'", alloc->buffer->name, alloc->buffer->memory));
    const Ref<Buffer> b = with_aligned_rows(alloc->buffer, *memory);
    int64_t& next = used[memory->name];
    next = (next + memory->alignment - 1) / memory->alignment * memory->alignment;
    const int64_t left = std::max<int64_t>(0, memory->bytes - next);
    placed.push_back({b, next, bytes_of(*b)});
    next += placed.back().bytes;
    if (placed.back().bytes > left)
      throw UserError(b->at, fmt::format("{}: {} needs {} bytes of {}, where {}; make the tiles smaller\n{}",
                                         caps.target, b->name, placed.back().bytes, memory->name,
                                         left == memory->bytes ? fmt::format("a block has {}", left)
                                                               : fmt::format("{} of {} are left", left, memory->bytes),
                                         table(placed, *memory)));
  });
  return placed;
}

/// The statement without its allocs, those of one iteration aside.
Stmt without_allocs(const Stmt& s, const Caps& caps) {
  const auto* alloc = as<Alloc>(s);
  if (alloc && alloc->buffer->memory != caps.iteration_memory) return make_at<Seq>(s->at);
  return with_bodies(s, [&](const Stmt& body) { return without_allocs(body, caps); });
}

Stmt plan_phase(const Stmt& phase, PassContext& context) {
  std::vector<Placed> placed = place_buffers(phase, context.caps());
  for (const Memory& memory : context.caps().memories) context.fact("plan_memory", table(placed, memory), phase->at);
  std::map<std::string, Ref<Buffer>> planned;
  Stmts allocs;
  for (const Placed& p : placed) {
    const Buffer& b = *p.buffer;
    Ref<Buffer> with_offset = altered(b, [&](Buffer& o) { o.offset = p.offset; });
    planned[b.name] = with_offset;
    if (b.memory != context.caps().iteration_memory) allocs.push_back(make_at<Alloc>(b.at, with_offset));
  }
  Stmt body = rewrite_as(without_allocs(phase, context.caps()), [&](const Any& node) -> Any {
    const auto* b = as<Buffer>(node);
    auto found = b ? planned.find(b->name) : planned.end();
    return found == planned.end() ? node : Any(found->second);
  });
  const auto& outer = static_cast<const For&>(*body);
  allocs.push_back(outer.body);
  return make_at<For>(outer.at, outer.how, outer.vars, outer.extents, outer.stages,
                      sequence(std::move(allocs), outer.at));
}

}  // namespace

KernelRef plan_memory(const KernelRef& kernel, PassContext& context) {
  Stmts planned;
  for (const Stmt& phase : phases(*kernel)) planned.push_back(plan_phase(phase, context));
  return make_at<Kernel>(kernel->at, kernel->name, kernel->stage, kernel->scalars, kernel->params,
                         sequence(std::move(planned)));
}

}  // namespace tilewright
