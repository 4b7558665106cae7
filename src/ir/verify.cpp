// Rules of every stage: well-formed nodes, names declared before use, and which statements stand where.
#include "ir/verify.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/build.h"
#include "ir/rules.h"
#include "ir/text.h"
#include "ir/verify_form.h"
#include "ir/walk.h"

namespace tilewright::ir {
namespace {

using detail::broken;

std::string_view name_of(LoopKind how) { return kLoopNames[static_cast<int>(how)]; }

bool before_lowering(Stage stage) { return stage <= Stage::placed; }

bool allows(Stage stage, const StmtNode& s) {
  switch (s.kind) {
    case Kind::Grid:
      return stage == Stage::traced;
    case Kind::Fill:
    case Kind::Covers:
      return before_lowering(stage);
    case Kind::Gemm:
      return before_lowering(stage) || (stage == Stage::lowered && !static_cast<const Gemm&>(s).unit.empty());
    case Kind::Reduce:
      return before_lowering(stage) || stage == Stage::lowered;
    case Kind::Shuffle:
    case Kind::Mma:
      return stage == Stage::threads;
    case Kind::Copy:
      return before_lowering(stage) || stage == Stage::lowered || stage == Stage::engines;
    case Kind::Barrier:
      return stage == Stage::lowered || stage == Stage::threads;
    case Kind::OnEngine:
      return stage == Stage::placed || stage == Stage::lowered || stage == Stage::engines;
    case Kind::SetFlag:
    case Kind::WaitFlag:
    case Kind::EngineBarrier:
      return stage == Stage::lowered || stage == Stage::engines;
    default:
      return true;
  }
}

bool allows(Stage stage, LoopKind how) {
  switch (how) {
    case LoopKind::serial:
    case LoopKind::unroll:
    case LoopKind::vectorized:
      return true;
    case LoopKind::parallel:
      return stage != Stage::threads && stage != Stage::engines;
    case LoopKind::pipelined:
    case LoopKind::persistent:
      return before_lowering(stage);
    case LoopKind::reduction:
      return !before_lowering(stage);
    case LoopKind::blocks:
      return stage != Stage::traced && stage != Stage::engines;
    case LoopKind::threads:
      return stage != Stage::traced && stage != Stage::loops && stage != Stage::engines;
    case LoopKind::cores:
      return stage != Stage::traced && stage != Stage::loops && stage != Stage::threads;
  }
  return false;
}

class Verify {
 public:
  explicit Verify(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    check_node(kernel_, kernel_);
    for (const auto& v : kernel_.scalars) declare(*v, v->name, kernel_);
    for (const auto& b : kernel_.params) {
      check_buffer(*b, kernel_);
      declare(*b, b->name, kernel_);
    }
    phases(*kernel_.body);
  }

 private:
  template <class Where>
  [[noreturn]] void fail(const Where& where, const std::string& rule) const {
    broken(kernel_.stage, where, rule);
  }

  // ---- names ------------------------------------------------------------------------------------------------------

  template <class Where>
  void declare(const Node& node, const std::string& name, const Where& where) {
    if (!names_.insert(name).second) fail(where, fmt::format("{} is declared twice", name));
    scope_.emplace(name, &node);
    order_.push_back(name);
  }
  void leave(size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) scope_.erase(order_.back());
  }

  template <class Where>
  void check_use(const Node& node, const std::string& name, const Where& where) const {
    auto found = scope_.find(name);
    if (found == scope_.end()) fail(where, fmt::format("{} is not declared here", name));
    if (found->second != &node && !equal(Any(found->second), Any(&node)))
      fail(where,
           fmt::format("{} is used as {} but declared as {}", name, print(Any(&node)), print(Any(found->second))));
  }

  // ---- nodes ------------------------------------------------------------------------------------------------------

  template <class Where>
  void check_node(const Node& node, const Where& where) const {
    if (std::string rule = broken_rule(node); !rule.empty()) fail(where, rule);
    auto operand = [&](const Expr& a) {
      if (a->dtype.is_float() && a->dtype != f32 && a->dtype != f64)
        fail(where,
             fmt::format("arithmetic in {}; narrow floats are only loaded, stored and cast", to_string(a->dtype)));
    };
    if (const auto* u = as<Unary>(&node)) operand(u->a);
    if (const auto* b = as<Binary>(&node)) operand(b->a);
    if (const auto* f = as<Fma>(&node)) operand(f->a);
    if (const auto* v = as<Var>(&node)) check_use(node, v->name, where);
    if (const auto* l = as<Load>(&node)) check_access(*l->buffer, l->indices, where);
    if (const auto* r = as<Region>(&node)) check_use(*r->buffer, r->buffer->name, where);
  }

  template <class Where>
  void check_access(const Buffer& buffer, const Exprs& indices, const Where& where) const {
    check_use(buffer, buffer.name, where);
    if (kernel_.stage < Stage::loops) return;
    for (const Expr& i : indices)
      if (i->dtype != i64)
        fail(where, fmt::format("an index of {} is {}; final forms index with i64", buffer.name, to_string(i->dtype)));
  }

  /// The nodes of a value; buffers and what they contain were checked where they are declared.
  template <class Where>
  void check_value(const Any& value, const Where& where) const {
    if (!value) return;
    post_order(value, [&](const Node& node) {
      if (node.kind != Kind::Buffer) check_node(node, where);
    });
  }

  template <class Where>
  void check_buffer(const Buffer& b, const Where& where) const {
    check_node(b, where);
    for (const Exprs* list : {&b.shape, &b.strides})
      for (const Expr& e : *list) check_value(e, where);
    if (b.space == Space::global) {
      if (!b.memory.empty() || b.offset >= 0) fail(where, fmt::format("{} is global but placed in a memory", b.name));
      return;
    }
    bool placed = kernel_.stage >= Stage::placed, planned = kernel_.stage >= Stage::loops;
    if (placed && b.memory.empty()) fail(where, fmt::format("{} has no memory", b.name));
    if (!placed && !b.memory.empty()) fail(where, fmt::format("{} has a memory before placement", b.name));
    if (planned && b.offset < 0) fail(where, fmt::format("{} has no offset", b.name));
    if (!b.layout.empty() && (!placed || planned)) fail(where, fmt::format("{} has a layout in this stage", b.name));
    for (const Expr& e : b.shape)
      if (placed && !is_constant(e)) fail(where, fmt::format("an extent of {} is not a constant", b.name));
  }

  // ---- statements -------------------------------------------------------------------------------------------------

  void phases(const StmtNode& s) {
    if (const auto* seq = as<Seq>(&s)) {
      for (const Stmt& child : seq->stmts) phases(*child);
      return;
    }
    const auto* loop = as<For>(&s);
    bool is_phase = kernel_.stage == Stage::traced
                        ? s.kind == Kind::Grid
                        : loop && (loop->how == LoopKind::blocks || loop->how == LoopKind::cores);
    if (!is_phase)
      fail(s, kernel_.stage == Stage::traced ? "a kernel's body is a sequence of grids"
                                             : "a kernel's body is a sequence of loops over blocks or cores");
    statement(s);
    detail::verify_form(kernel_.stage, s);
  }

  /// What a body declares ends with it.
  void block(const StmtNode& s) {
    size_t mark = order_.size();
    statement(s);
    leave(mark);
  }

  void statement(const StmtNode& s) {
    if (!allows(kernel_.stage, s)) fail(s, "this statement does not belong to this stage");
    check_node(s, s);
    switch (s.kind) {
      case Kind::Seq: {
        size_t mark = order_.size();
        for (const Stmt& child : static_cast<const Seq&>(s).stmts) statement(*child);
        leave(mark);
        break;
      }
      case Kind::Grid: {
        const auto& grid = static_cast<const Grid&>(s);
        enter_phase(s);
        loop(s, grid.vars, grid.extents, grid.body);
        in_phase_ = false;
        break;
      }
      case Kind::For:
        loop(static_cast<const For&>(s));
        break;
      case Kind::When: {
        const auto& when = static_cast<const When&>(s);
        check_value(when.cond, s);
        block(*when.then);
        if (when.otherwise) block(*when.otherwise);
        break;
      }
      case Kind::OnEngine:
        block(*static_cast<const OnEngine&>(s).body);
        break;
      case Kind::Let: {
        const auto& let = static_cast<const Let&>(s);
        check_value(let.value, s);
        declare(*let.var, let.var->name, s);
        break;
      }
      case Kind::Shuffle: {
        const auto& shuffle = static_cast<const Shuffle&>(s);
        check_value(shuffle.value, s);
        declare(*shuffle.var, shuffle.var->name, s);
        break;
      }
      case Kind::Alloc: {
        const Buffer& buffer = *static_cast<const Alloc&>(s).buffer;
        check_buffer(buffer, s);
        declare(buffer, buffer.name, s);
        break;
      }
      default:
        operation(s);
    }
  }

  void enter_phase(const StmtNode& s) {
    if (std::exchange(in_phase_, true)) fail(s, "a phase stands inside a phase");
  }

  void loop(const For& l) {
    if (!allows(kernel_.stage, l.how)) fail(l, fmt::format("a {} loop does not belong to this stage", name_of(l.how)));
    bool phase = l.how == LoopKind::blocks || l.how == LoopKind::cores;
    if (phase) enter_phase(l);
    if ((phase || l.how == LoopKind::threads) && l.vars.size() != 1)
      fail(l, fmt::format("a {} loop has one variable", name_of(l.how)));
    bool element_loop = l.how == LoopKind::parallel || l.how == LoopKind::reduction;
    element_loops_ += element_loop;
    loop(l, l.vars, l.extents, l.body);
    element_loops_ -= element_loop;
    if (phase) in_phase_ = false;
  }

  void loop(const StmtNode& s, const std::vector<Ref<Var>>& vars, const Exprs& extents, const Stmt& body) {
    for (const Expr& e : extents) {
      check_value(e, s);
      if (kernel_.stage > Stage::traced && reads_memory(e))
        fail(s,
             "an extent reads memory, so that the loop's own stores could change it; a let before the loop reads it");
    }
    size_t mark = order_.size();
    for (const auto& v : vars) declare(*v, v->name, s);
    statement(*body);
    leave(mark);
  }

  /// A statement without a body.
  void operation(const StmtNode& s) {
    if (element_loops_ > 0 && s.kind != Kind::Store)
      fail(s, "inside a parallel or reduction loop only elements are written");
    std::vector<const Node*> children;
    append_children(s, children);
    for (const Node* child : children)
      if (child->kind != Kind::Buffer) check_value(Any(child), s);
    const bool tile = s.kind == Kind::Copy || s.kind == Kind::Fill || s.kind == Kind::Gemm || s.kind == Kind::Reduce;
    if (tile && kernel_.stage > Stage::traced)
      post_order(ref(&s), [&](const Node& node) {
        if (node.kind == Kind::Load)
          fail(s,
               "a tile operation reads an element of memory, which it could change itself; a let before it reads it");
      });
    if (const auto* store = as<Store>(&s)) check_access(*store->buffer, store->indices, s);
    if (const auto* reduce = as<Reduce>(&s); reduce && reduce->scratch)
      check_use(*reduce->scratch, reduce->scratch->name, s);
    if (const auto* mma = as<Mma>(&s))
      for (const auto& b : {mma->a, mma->b, mma->c}) check_use(*b, b->name, s);
    if (const auto* covers = as<Covers>(&s)) check_use(*covers->buffer, covers->buffer->name, s);
  }

  const Kernel& kernel_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, const Node*> scope_;
  std::vector<std::string> order_;
  int element_loops_ = 0;
  bool in_phase_ = false;
};

}  // namespace

std::optional<BrokenPromise> broken_promise(const Ref<Kernel>& kernel) {
  try {
    Verify(*kernel).run();
  } catch (BrokenPromise& found) {
    return std::move(found);
  }
  return std::nullopt;
}

void verify(const Ref<Kernel>& kernel) {
  if (auto found = broken_promise(kernel)) throw InternalError(found->sentence, found->at);
}

}  // namespace tilewright::ir
