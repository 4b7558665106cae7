// Expressions. A node with several uses is computed once a scope. The sides of `select`, `and` and `or` that read
// memory are behind branches; everything else is evaluated speculatively.
#include "base/check.h"
#include "ir/walk.h"
#include "target/cpu/llvm/emitter.h"

namespace tilewright::cpu {

using ir::as;

void Emitter::find_loads() {
  std::vector<const ir::Node*> children;
  ir::post_order(kernel_.body, [&](const ir::Node& node) {
    if (!ir::is_expr(node.kind)) return;
    bool reads = node.kind == ir::Kind::Load;
    children.clear();
    ir::append_children(node, children);
    for (const ir::Node* child : children) reads = reads || reads_memory(child);
    if (reads) loads_.insert(&node);
  });
}

void Emitter::remember(const ir::ExprNode* node, Value* v) {
  known_[node] = v;
  (reads_memory(node) ? read_log_ : known_log_).push_back(node);
}

void Emitter::forget(size_t known, size_t read) {
  for (; known_log_.size() > known; known_log_.pop_back()) known_.erase(known_log_.back());
  for (; read_log_.size() > read; read_log_.pop_back()) known_.erase(read_log_.back());
}

void Emitter::forget_reads() {
  for (const ir::Node* node : read_log_) known_.erase(node);
  read_log_.clear();
}

bool Emitter::is_lazy(const ir::ExprNode& node) const {
  if (const auto* s = as<ir::Select>(&node)) return reads_memory(s->a.get()) || reads_memory(s->b.get());
  const auto* b = as<ir::Binary>(&node);
  return b && is_logical(b->op) && reads_memory(b->b.get());
}

/// What compute(node) needs to have been computed before.
void Emitter::operands(const ir::ExprNode& node, std::vector<const ir::ExprNode*>& out) const {
  switch (node.kind) {
    case ir::Kind::Unary:
      out.push_back(static_cast<const ir::Unary&>(node).a.get());
      return;
    case ir::Kind::Binary: {
      const auto& n = static_cast<const ir::Binary&>(node);
      out.push_back(n.a.get());
      if (!is_lazy(node)) out.push_back(n.b.get());
      return;
    }
    case ir::Kind::Select: {
      const auto& n = static_cast<const ir::Select&>(node);
      out.push_back(n.cond.get());
      if (is_lazy(node)) return;
      out.push_back(n.a.get());
      out.push_back(n.b.get());
      return;
    }
    case ir::Kind::Fma: {
      const auto& n = static_cast<const ir::Fma&>(node);
      for (const ir::Expr* e : {&n.a, &n.b, &n.c}) out.push_back(e->get());
      return;
    }
    case ir::Kind::Cast:
      out.push_back(static_cast<const ir::Cast&>(node).a.get());
      return;
    case ir::Kind::Load:
      for (const ir::Expr& e : static_cast<const ir::Load&>(node).indices) out.push_back(e.get());
      return;
    default:
      return;
  }
}

Value* Emitter::value(const ir::Expr& root) {
  // A stack of our own: expressions may be a million nodes deep. A node is pushed, its operands are, it is computed.
  std::vector<std::pair<const ir::ExprNode*, bool>> stack{{root.get(), false}};
  std::vector<const ir::ExprNode*> needed;
  while (!stack.empty()) {
    auto [node, ready] = stack.back();
    if (known_.count(node)) {
      stack.pop_back();
    } else if (ready) {
      stack.pop_back();
      remember(node, compute(*node));
    } else {
      stack.back().second = true;
      needed.clear();
      operands(*node, needed);
      for (const ir::ExprNode* operand : needed) stack.push_back({operand, false});
    }
  }
  return known_.at(root.get());
}

Value* Emitter::variable(const ir::Var& var) const {
  auto found = variables_.find(var.name);
  TW_CHECK(found != variables_.end(), "cpu: variable " + var.name + " has no value here");
  return found->second;
}

/// An integer expression as i64.
Value* Emitter::index_value(const ir::Expr& e) {
  TW_CHECK(!e->dtype.is_float(), "cpu: an index, extent or bound is a float");
  return values_.as_index(e->dtype, value(e));
}

Value* Emitter::compute(const ir::ExprNode& node) {
  auto done = [&](const ir::Expr& e) { return known_.at(e.get()); };
  switch (node.kind) {
    case ir::Kind::Const:
      return values_.constant(static_cast<const ir::Const&>(node).value);
    case ir::Kind::Var:
      return variable(static_cast<const ir::Var&>(node));
    case ir::Kind::Unary: {
      const auto& n = static_cast<const ir::Unary&>(node);
      return values_.unary(n.op, n.a->dtype, done(n.a));
    }
    case ir::Kind::Binary: {
      const auto& n = static_cast<const ir::Binary&>(node);
      if (!is_lazy(node)) return values_.binary(n.op, n.a->dtype, done(n.a), done(n.b));
      if (n.op == BinaryOp::logical_and) return choose(done(n.a), &n.b, nullptr, b_.getFalse());
      return choose(done(n.a), nullptr, &n.b, b_.getTrue());
    }
    case ir::Kind::Select: {
      const auto& n = static_cast<const ir::Select&>(node);
      if (!is_lazy(node)) return values_.select(done(n.cond), done(n.a), done(n.b));
      return choose(done(n.cond), &n.a, &n.b, nullptr);
    }
    case ir::Kind::Fma: {
      const auto& n = static_cast<const ir::Fma&>(node);
      return values_.fma(done(n.a), done(n.b), done(n.c));
    }
    case ir::Kind::Cast: {
      const auto& n = static_cast<const ir::Cast&>(node);
      return values_.cast(n.a->dtype, n.type, done(n.a), n.overflow);
    }
    case ir::Kind::Load:
      return load(static_cast<const ir::Load&>(node));
    default:
      break;
  }
  TW_CHECK(false, "cpu: not an expression");
  return nullptr;
}

/// The value of one side; a null side is `otherwise`.
Value* Emitter::choose(Value* condition, const ir::Expr* if_true, const ir::Expr* if_false, Value* otherwise) {
  llvm::BasicBlock* join = llvm::BasicBlock::Create(context_, "join", function_);
  llvm::BasicBlock* start = b_.GetInsertBlock();
  llvm::BasicBlock* entries[2] = {join, join};
  std::pair<Value*, llvm::BasicBlock*> results[2];
  const ir::Expr* sides[2] = {if_true, if_false};
  for (int i = 0; i < 2; ++i) {
    if (!sides[i]) {
      results[i] = {otherwise, start};
      continue;
    }
    entries[i] = llvm::BasicBlock::Create(context_, i == 0 ? "chosen" : "other", function_, join);
    b_.SetInsertPoint(entries[i]);
    Scope scope(*this);
    Value* v = value(*sides[i]);
    results[i] = {v, b_.GetInsertBlock()};
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(start);
  b_.CreateCondBr(condition, entries[0], entries[1]);
  b_.SetInsertPoint(join);
  llvm::PHINode* phi = b_.CreatePHI(results[0].first->getType(), 2);
  for (auto& [v, block] : results) phi->addIncoming(v, block);
  return phi;
}

}  // namespace tilewright::cpu
