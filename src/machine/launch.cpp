#include "machine/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/check.h"
#include "ir/build.h"
#include "ir/region.h"
#include "ir/walk.h"

namespace tilewright {
namespace {

int scalar_index(const LaunchPlan& plan, const std::string& name) {
  for (size_t i = 0; i < plan.scalars.size(); ++i)
    if (plan.scalars[i].name == name) return static_cast<int>(i);
  return -1;
}

DimRule rule_of(const ir::Expr& size, const LaunchPlan& plan) {
  const auto* v = ir::as<ir::Var>(size);
  int scalar = v ? scalar_index(plan, v->name) : -1;
  return scalar >= 0 ? DimRule{.scalar = scalar, .value = {}} : DimRule{.scalar = -1, .value = formula_of(size, plan)};
}

struct Use {
  bool read = false, written = false;
};

void note_uses(const ir::Node& node, const ir::Kernel& kernel, std::vector<Use>& uses) {
  auto use = [&](const ir::Buffer* buffer) -> Use* {
    for (size_t i = 0; i < kernel.params.size(); ++i)
      if (kernel.params[i]->name == buffer->name) return &uses[i];
    return nullptr;
  };
  auto read = [&](const ir::Buffer* b) {
    if (Use* u = use(b)) u->read = true;
  };
  auto write = [&](const ir::Buffer* b) {
    if (Use* u = use(b)) u->written = true;
  };
  switch (node.kind) {
    case ir::Kind::Load:
      read(static_cast<const ir::Load&>(node).buffer.get());
      break;
    case ir::Kind::Store:
      write(static_cast<const ir::Store&>(node).buffer.get());
      break;
    case ir::Kind::Copy: {
      const auto& n = static_cast<const ir::Copy&>(node);
      read(n.src->buffer.get());
      write(n.dst->buffer.get());
      break;
    }
    case ir::Kind::Fill:
      write(static_cast<const ir::Fill&>(node).dst->buffer.get());
      break;
    case ir::Kind::Gemm: {
      const auto& n = static_cast<const ir::Gemm&>(node);
      read(n.a->buffer.get());
      read(n.b->buffer.get());
      read(n.c->buffer.get());
      write(n.c->buffer.get());
      break;
    }
    case ir::Kind::Reduce: {
      const auto& n = static_cast<const ir::Reduce&>(node);
      read(n.src->buffer.get());
      write(n.dst->buffer.get());
      if (n.accumulate) read(n.dst->buffer.get());
      break;
    }
    default:
      break;
  }
}

}  // namespace

std::vector<Access> infer_access(const ir::Kernel& kernel) {
  std::vector<Use> uses(kernel.params.size());
  ir::post_order(kernel.body, [&](const ir::Node& node) { note_uses(node, kernel, uses); });
  std::vector<Access> access;
  for (const Use& u : uses) access.push_back(!u.written ? Access::in : u.read ? Access::inout : Access::out);
  return access;
}

LaunchPlan plan_arguments(const ir::Kernel& kernel) {
  LaunchPlan plan;
  plan.kernel = kernel.name;
  for (const auto& scalar : kernel.scalars) plan.scalars.push_back({scalar->name, scalar->type, true});
  std::vector<Access> access = infer_access(kernel);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const ir::Buffer& buffer = *kernel.params[i];
    TensorParam param{buffer.name, buffer.dtype, {}, {}, access[i]};
    for (const ir::Expr& size : buffer.shape) param.shape.push_back(rule_of(size, plan));
    for (const ir::Expr& stride : buffer.strides) param.strides.push_back(rule_of(stride, plan));
    for (const auto* rules : {&param.shape, &param.strides})
      for (const DimRule& rule : *rules)
        if (rule.scalar >= 0) plan.scalars[rule.scalar].is_argument = false;
    plan.tensors.push_back(std::move(param));
  }
  return plan;
}

LaunchPlan plan_launch(const ir::Kernel& final_stage, const ir::Kernel& traced, const Caps& caps) {
  LaunchPlan plan = plan_arguments(final_stage);
  const std::vector<Access> access = infer_access(traced);
  for (size_t i = 0; i < plan.tensors.size(); ++i) plan.tensors[i].access = access[i];
  const ir::Stmts loops = ir::phases(final_stage), grids = ir::phases(traced);
  TW_CHECK(loops.size() == grids.size(), "a lowered kernel has another number of phases than the traced one");
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto* loop = ir::as<ir::For>(loops[i]);
    const auto* grid = ir::as<ir::Grid>(grids[i]);
    TW_CHECK(loop && loop->extents.size() == 1, "a phase is not one loop over blocks or cores");
    TW_CHECK(grid, "a phase of a traced kernel is not a grid");
    Phase phase;
    phase.entry = loops.size() == 1 ? final_stage.name : fmt::format("{}_{}", final_stage.name, i);
    for (const ir::Expr& extent : grid->extents) phase.grid.push_back(formula_of(extent, plan));
    phase.most_blocks = caps.max_blocks;
    phase.blocks = formula_of(loop->extents[0], plan);
    ir::post_order(loops[i], [&](const ir::Node& node) {
      if (const auto* inner = ir::as<ir::For>(&node); inner && inner->how == ir::LoopKind::threads)
        ir::is_constant(inner->extents[0], &phase.threads);
      const auto* alloc = ir::as<ir::Alloc>(&node);
      if (!alloc || alloc->buffer->memory == caps.iteration_memory) return;
      const ir::Buffer& tile = *alloc->buffer;
      TW_CHECK(caps.memory(tile.memory), "an alloc has no memory");
      phase.fast_memory_bytes =
          std::max(phase.fast_memory_bytes, tile.offset + tile.dtype.bytes(ir::element_count(tile)));
    });
    plan.phases.push_back(std::move(phase));
  }
  return plan;
}

Formula formula_of(const ir::Expr& expression, const LaunchPlan& plan) {
  using Kind = Formula::Step::Kind;
  Formula formula;
  std::unordered_map<const ir::Node*, int> step_of;
  ir::post_order(expression, [&](const ir::Node& node) {
    auto step = [&](const ir::Expr& e) { return step_of.at(e.get()); };
    auto add = [&](Kind kind, DType type, int64_t value, std::array<int, 3> operand = {}) {
      TW_CHECK(type.is_int() || type.is_bool(), "launch formula: a value is no integer");
      step_of[&node] = static_cast<int>(formula.steps.size());
      formula.steps.push_back({kind, type, value, {operand[0], operand[1], operand[2]}});
    };
    if (const auto* c = ir::as<ir::Const>(&node)) {
      add(Kind::constant, c->dtype, c->value.as_int());
    } else if (const auto* v = ir::as<ir::Var>(&node)) {
      int scalar = scalar_index(plan, v->name);
      TW_CHECK(scalar >= 0, fmt::format("launch formula: {} is not known before the launch", v->name));
      add(Kind::scalar, v->dtype, scalar);
    } else if (const auto* u = ir::as<ir::Unary>(&node)) {
      add(Kind::unary, u->dtype, static_cast<int64_t>(u->op), {step(u->a)});
    } else if (const auto* b = ir::as<ir::Binary>(&node)) {
      add(Kind::binary, b->dtype, static_cast<int64_t>(b->op), {step(b->a), step(b->b)});
    } else if (const auto* s = ir::as<ir::Select>(&node)) {
      add(Kind::select, s->dtype, 0, {step(s->cond), step(s->a), step(s->b)});
    } else if (const auto* cast = ir::as<ir::Cast>(&node)) {
      add(Kind::cast, cast->dtype, 0, {step(cast->a)});
    } else {
      TW_CHECK(false, "launch formula: not a formula of sizes");
    }
  });
  return formula;
}

}  // namespace tilewright
