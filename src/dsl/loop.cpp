// Loops, grids and when: opening, closing and abandoning traced blocks.
#include "tilewright/dsl/loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/state.h"
#include "ir/nodes.h"
#include "ir/walk.h"

namespace tilewright::detail {

static_assert(static_cast<int>(LoopWord::persistent) == static_cast<int>(ir::LoopKind::persistent));

namespace {

constexpr const char* kWords[] = {"serial", "unroll", "vectorized", "parallel", "pipelined", "persistent", "grid"};

/// "bx", "by", "bz" for grids, "i", "j", "l" for parallel loops, "k" for the others.
const char* name_of_variable(LoopWord word, size_t axis) {
  static constexpr const char* kGrid[] = {"bx", "by", "bz"};
  static constexpr const char* kParallel[] = {"i", "j", "l"};
  static constexpr const char* kSerial[] = {"k", "q", "p"};
  if (word == LoopWord::grid) return kGrid[axis];
  if (word == LoopWord::parallel || word == LoopWord::vectorized) return kParallel[axis];
  return kSerial[axis];
}

bool uses_a_float(const ir::Expr& e) {
  bool found = false;
  ir::post_order(e, [&](const ir::Node& node) {
    if (ir::is_expr(node.kind)) found |= static_cast<const ir::ExprNode&>(node).dtype.is_float();
  });
  return found;
}

void check_place(Trace& t, LoopWord word, Location at) {
  const Block& around = t.top();
  const char* name = kWords[static_cast<int>(word)];
  if (word == LoopWord::grid) {
    for (const Block& b : t.blocks)
      if (b.what == Block::What::grid)
        raise(at, "grid inside a grid: a kernel body is a sequence of grids, one after the other",
              {{b.at, "the grid around it"}});
    return;
  }
  if (!t.in_grid())
    raise(at, fmt::format("{} is outside a grid: a kernel body is a sequence of `for (... : grid(...))`", name));
  if (around.parallel && (word == LoopWord::parallel || word == LoopWord::pipelined || word == LoopWord::persistent)) {
    Location loop = at;
    for (const Block& b : t.blocks)
      if (b.id == around.parallel) loop = b.at;
    raise(at,
          word == LoopWord::parallel
              ? std::string("parallel inside parallel: write one loop, parallel(m, n)")
              : fmt::format("{} cannot be inside parallel: an iteration is scalar work; use serial", name),
          {{loop, "the parallel loop"}});
  }
}

}  // namespace

LoopBase::LoopBase(LoopWord word, Indices extents, int64_t number, Location at)
    : word_(word), exceptions_(std::uncaught_exceptions()), number_(number), at_(at), extents_(extents) {}

const Value* LoopBase::open() {
  const char* name = kWords[static_cast<int>(word_)];
  Trace& t = current(name, at_);
  if (open_) raise(at_, fmt::format("{} is opened twice: write for (... : {}(...))", name, name));
  check_place(t, word_, at_);
  Block block;
  block.what = word_ == LoopWord::grid ? Block::What::grid : Block::What::loop;
  if (word_ != LoopWord::grid) block.how = static_cast<ir::LoopKind>(word_);
  block.at = at_;
  bool host_only = word_ == LoopWord::unroll || word_ == LoopWord::vectorized;
  int64_t least = word_ == LoopWord::grid ? 1 : 0;
  int64_t iterations = 1;  // of the extents that are numbers
  for (const Operand& e : extents_) {
    check(t, e.value, e.at);
    if (!e.value.type.is_int())
      raise(e.at, fmt::format("{}: extent {} must be an integer, it is {}", name, block.extents.size(),
                              to_string(e.value.type)));
    ir::Expr n = as_index(e, "an extent");
    int64_t value = 0;
    bool constant = ir::is_constant(n, &value);
    if (constant && value < least)
      raise(e.at, fmt::format("{}: extent {} is {}: it must be at least {}", name, block.extents.size(), value, least));
    if (!constant && host_only)
      raise(e.at, fmt::format("{}: the extent must be a host number, got {}: use serial", name, text(n)));
    if (e.value.block && word_ == LoopWord::grid)
      raise(e.at, "grid: an extent may use shapes and scalar arguments only, not a tensor's element");
    if (word_ == LoopWord::grid && uses_a_float(n))
      raise(e.at, "grid: an extent is computed from integers only; this one uses a float");
    if (constant && __builtin_mul_overflow(iterations, std::max<int64_t>(value, 1), &iterations))
      raise(e.at, fmt::format("{}: the extents multiply to more than 2^63 iterations", name));
    block.certain = block.certain && constant && value >= 1;
    block.extents.push_back(std::move(n));
  }
  if (word_ == LoopWord::grid && (number_ < 1 || number_ > ir::kMostThreadsOfBlock))
    raise(at_,
          fmt::format("grid: threads is {}: a block has 1 to {} compute threads", number_, ir::kMostThreadsOfBlock));
  if (word_ == LoopWord::pipelined && (number_ < 0 || number_ > 8))
    raise(at_, fmt::format("pipelined: stages is {}: it must be 0 to 8", number_));

  vars_.clear();
  t.count_nodes(1 + static_cast<int64_t>(extents_.size()), at_);
  t.push(std::move(block));
  uint32_t depth = static_cast<uint32_t>(t.blocks.size() - 1);
  for (size_t i = 0; i < extents_.size(); ++i) {
    auto var = ir::make<ir::Var>(t.unique(name_of_variable(word_, i)), i64);
    t.names[var.get()] = {"loop variable " + var->name, t.top().id, {}};
    t.top().vars.push_back(var);
    vars_.push_back(named(t, var, t.top().id, depth));
  }
  trace_ = t.id, block_ = t.top().id, open_ = true;
  exceptions_ = std::uncaught_exceptions();
  return vars_.data();
}

void LoopBase::close() {
  Trace* t = active();
  open_ = false;
  if (!t || t->id != trace_ || t->top().id != block_) {
    if (t && t->poison) std::rethrow_exception(t->poison);
    raise(at_, fmt::format("{0} is closed out of order: write for (... : {0}(...))", kWords[static_cast<int>(word_)]));
  }
  if (t->poison) {
    t->pop();
    std::rethrow_exception(t->poison);
  }
  Block b = t->pop();
  ir::Stmt body = ir::sequence(std::move(b.stmts), at_);
  if (word_ == LoopWord::grid)
    t->append(ir::make_at<ir::Grid>(at_, b.vars, b.extents, number_, body));
  else
    t->append(ir::make_at<ir::For>(at_, static_cast<ir::LoopKind>(word_), b.vars, b.extents,
                                   word_ == LoopWord::pipelined ? number_ : int64_t{0}, body));
}

LoopBase::~LoopBase() {
  if (!open_) return;
  Trace* t = active();
  if (!t || t->id != trace_ || t->top().id != block_) return;
  if (std::uncaught_exceptions() > exceptions_) {
    abandon(*t, at_, nullptr);
  } else {
    abandon(*t, at_,
            std::make_exception_ptr(UserError(
                at_,
                "break, return or goto out of this traced loop: its body is traced once and has no early exit; use "
                "when(cond, [&] { ... })")));
  }
}

}  // namespace tilewright::detail

namespace tilewright {

namespace {

/// Traces `body` as a block of its own and gives its statements.
ir::Stmt trace_block(detail::Trace& t, Location at, void (*body)(void*), void* context) {
  detail::Block block;
  block.what = detail::Block::What::when;
  block.at = at;
  block.certain = false;
  t.push(std::move(block));
  uint32_t id = t.top().id;
  try {
    body(context);
  } catch (...) {
    if (t.top().id == id) detail::abandon(t, at, std::current_exception());
    throw;
  }
  detail::current("when", at);
  return ir::sequence(t.pop().stmts, at);
}

}  // namespace

When::When(const Operand& cond, void (*body)(void*), void* context) : at_(cond.at) {
  detail::Trace& t = detail::current_in_grid("when", at_);
  detail::check(t, cond.value, at_);
  if (!cond.value.type.is_bool())
    detail::raise(at_, fmt::format("when: the condition is {}, not bool: write x != 0", to_string(cond.value.type)));
  ir::Stmt then = trace_block(t, at_, body, context);
  t.count_nodes(1, at_);
  t.append(ir::make_at<ir::When>(at_, detail::node_of(cond.value), then));
  trace_ = t.id, block_ = t.top().id, index_ = t.top().stmts.size() - 1;
}

void When::run_otherwise(void (*body)(void*), void* context) {
  detail::Trace& t = detail::current("otherwise", at_);
  auto& stmts = t.top().stmts;
  if (t.id != trace_ || t.top().id != block_ || stmts.size() != index_ + 1 || stmts.back()->kind != ir::Kind::When)
    detail::raise(at_, "otherwise must follow its when at once: when(cond, [&] { ... }).otherwise([&] { ... })");
  ir::Stmt other = trace_block(t, at_, body, context);
  const auto* w = ir::as<ir::When>(t.top().stmts.back());
  if (w->otherwise) detail::raise(at_, "this when has an otherwise already");
  t.top().stmts.back() = ir::make_at<ir::When>(at_, w->cond, w->then, other);
}

}  // namespace tilewright
