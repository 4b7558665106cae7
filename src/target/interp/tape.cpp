#include "target/interp/tape.h"

#include "base/check.h"
#include "base/pointer_map.h"
#include "ir/walk.h"

namespace tilewright::interp {

using namespace ir;

int Slots::slot(const std::string& name) {
  auto [at, is_new] = of_name.try_emplace(name, static_cast<int>(values.size()));
  if (is_new) values.emplace_back();
  return at->second;
}

Tape::Tape(const Expr& expression, Slots& slots) : root_(expression) {
  PointerMap<int> step_of;
  bool reads = false, chooses = false;
  post_order(expression, [&](const Node& node) {
    if (!is_expr(node.kind)) return;  // a load's buffer and what it holds
    Step step{&node};
    auto operand = [&](const Expr& e) { return *step_of.find(e.get()); };
    switch (node.kind) {
      case Kind::Var:
        step.slot = slots.slot(static_cast<const Var&>(node).name);
        break;
      case Kind::Unary:
        step.a = operand(static_cast<const Unary&>(node).a);
        break;
      case Kind::Cast:
        step.a = operand(static_cast<const Cast&>(node).a);
        break;
      case Kind::Binary: {
        const auto& n = static_cast<const Binary&>(node);
        step.a = operand(n.a), step.b = operand(n.b);
        chooses |= is_logical(n.op);
        break;
      }
      case Kind::Select: {
        const auto& n = static_cast<const Select&>(node);
        step.a = operand(n.cond), step.b = operand(n.a), step.c = operand(n.b);
        chooses = true;
        break;
      }
      case Kind::Fma: {
        const auto& n = static_cast<const Fma&>(node);
        step.a = operand(n.a), step.b = operand(n.b), step.c = operand(n.c);
        break;
      }
      case Kind::Load: {
        step.first = static_cast<int>(indices_.size());
        for (const Expr& i : static_cast<const Load&>(node).indices) indices_.push_back(operand(i));
        reads = true;
        break;
      }
      default:
        break;
    }
    step_of.insert(&node, static_cast<int>(steps_.size()));
    steps_.push_back(step);
  });
  // The shapes of a load's buffer are visited too; the root is the last step all the same.
  TW_CHECK(!steps_.empty() && steps_.back().node == root_.get(), "tape: the root is not last");
  values_.resize(steps_.size());
  lazy_ = reads && chooses;
  if (lazy_) done_.resize(steps_.size());
}

void Tape::run(int index, const Slots& slots, ElementSource& source) {
  const Step& s = steps_[index];
  Scalar& out = values_[index];
  switch (s.node->kind) {
    case Kind::Const:
      out = static_cast<const Const*>(s.node)->value;
      break;
    case Kind::Var:
      out = slots.values[s.slot];
      break;
    case Kind::Unary:
      out = tilewright::evaluate(static_cast<const Unary*>(s.node)->op, values_[s.a]);
      break;
    case Kind::Binary:
      out = tilewright::evaluate(static_cast<const Binary*>(s.node)->op, values_[s.a], values_[s.b]);
      break;
    case Kind::Select:
      out = values_[s.a].as_bool() ? values_[s.b] : values_[s.c];
      break;
    case Kind::Fma:
      out = fma(values_[s.a], values_[s.b], values_[s.c]);
      break;
    case Kind::Cast: {
      const auto* n = static_cast<const Cast*>(s.node);
      out = cast(values_[s.a], n->type, n->overflow);
      break;
    }
    case Kind::Load: {
      const auto* n = static_cast<const Load*>(s.node);
      int64_t at[16];
      size_t rank = n->indices.size();
      TW_CHECK(rank <= 16, "a buffer has more than 16 axes");
      for (size_t d = 0; d < rank; ++d) at[d] = values_[indices_[s.first + d]].as_int();
      out = source.read(*n, at);
      break;
    }
    default:
      TW_CHECK(false, "tape: not an expression");
  }
}

Scalar Tape::evaluate(const Slots& slots, ElementSource& source) {
  if (lazy_) return evaluate_lazily(slots, source);
  for (size_t i = 0; i < steps_.size(); ++i) run(static_cast<int>(i), slots, source);
  return values_.back();
}

Scalar Tape::evaluate_lazily(const Slots& slots, ElementSource& source) {
  ++round_;
  std::vector<int> stack{static_cast<int>(steps_.size()) - 1};
  auto ready = [&](int i) { return i < 0 || done_[i] == round_; };
  while (!stack.empty()) {
    int index = stack.back();
    if (done_[index] == round_) {
      stack.pop_back();
      continue;
    }
    const Step& s = steps_[index];
    auto need = [&](int i) {
      if (ready(i)) return false;
      stack.push_back(i);
      return true;
    };
    auto finish = [&](const Scalar& value) {
      values_[index] = value;
      done_[index] = round_;
      stack.pop_back();
    };
    if (s.node->kind == Kind::Select) {
      if (need(s.a)) continue;
      int side = values_[s.a].as_bool() ? s.b : s.c;
      if (need(side)) continue;
      finish(values_[side]);
      continue;
    }
    if (s.node->kind == Kind::Binary && is_logical(static_cast<const Binary*>(s.node)->op)) {
      bool is_or = static_cast<const Binary*>(s.node)->op == BinaryOp::logical_or;
      if (need(s.a)) continue;
      if (values_[s.a].as_bool() == is_or) {
        finish(values_[s.a]);
      } else if (!need(s.b)) {
        finish(values_[s.b]);
      }
      continue;
    }
    bool waiting = need(s.a) || need(s.b) || need(s.c);
    if (s.node->kind == Kind::Load)
      for (size_t d = 0; !waiting && d < static_cast<const Load*>(s.node)->indices.size(); ++d)
        waiting = need(indices_[s.first + d]);
    if (waiting) continue;
    run(index, slots, source);
    done_[index] = round_;
    stack.pop_back();
  }
  return values_.back();
}

}  // namespace tilewright::interp
