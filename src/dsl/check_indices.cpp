// Elements and regions of on-chip tiles that are surely outside. An index counts when it is a sum of variables of loops
// with known extents: every combination of their values happens, so the largest sum happens too. A condition between a
// loop and the statement makes the loop's variables unknown; so does the side of a select, an `and` or an `or` that may
// not be evaluated.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "dsl/state.h"
#include "ir/linear.h"
#include "ir/walk.h"

namespace tilewright::detail {
namespace {

using Wide = __int128;

struct Span {
  Wide low = 0, high = 0;
};

class IndexChecker {
 public:
  void statement(const ir::Stmt& s) {
    switch (s->kind) {
      case ir::Kind::Seq:
        for (const ir::Stmt& child : static_cast<const ir::Seq&>(*s).stmts) statement(child);
        return;
      case ir::Kind::Grid: {
        const auto& grid = static_cast<const ir::Grid&>(*s);
        return loop(grid.vars, grid.extents, grid.body);
      }
      case ir::Kind::For: {
        const auto& f = static_cast<const ir::For&>(*s);
        for (const ir::Expr& e : f.extents) expression(e, *s);
        return loop(f.vars, f.extents, f.body);
      }
      case ir::Kind::When: {
        const auto& when = static_cast<const ir::When&>(*s);
        expression(when.cond, *s);
        auto outside = std::exchange(last_, {});
        statement(when.then);
        if (when.otherwise) statement(when.otherwise);
        last_ = std::move(outside);
        return;
      }
      case ir::Kind::Store: {
        const auto& store = static_cast<const ir::Store&>(*s);
        element(*store.buffer, store.indices, *s);
        for (const ir::Expr& i : store.indices) expression(i, *s);
        return expression(store.value, *s);
      }
      default:
        return others(*s);
    }
  }

 private:
  void loop(const std::vector<ir::Ref<ir::Var>>& vars, const ir::Exprs& extents, const ir::Stmt& body) {
    for (size_t i = 0; i < vars.size(); ++i) {
      int64_t n;
      if (!ir::is_constant(extents[i], &n)) continue;
      if (n <= 0) return;
      last_[vars[i].get()] = n - 1;
    }
    statement(body);
    for (const auto& v : vars) last_.erase(v.get());
  }

  /// Statements on whole tiles: their regions, and what their operands read.
  void others(const ir::Node& s) {
    std::vector<const ir::Node*> children;
    ir::append_children(s, children);
    for (const ir::Node* child : children) {
      if (const auto* r = ir::as<ir::Region>(child)) {
        region(*r, s);
        for (const ir::Expr& o : r->offset) expression(o, s);
      } else if (ir::is_expr(child->kind)) {
        expression(ir::Expr(static_cast<const ir::ExprNode*>(child)), s);
      }
    }
  }

  /// Every element that `e` reads whenever it is evaluated. A read belongs to one block, so once is enough.
  void expression(const ir::Expr& e, const ir::Node& s) {
    std::vector<const ir::Node*> work{e.get()};
    while (!work.empty()) {
      const ir::Node* n = work.back();
      work.pop_back();
      if (!seen_.insert(n).second) continue;
      if (const auto* load = ir::as<ir::Load>(n)) element(*load->buffer, load->indices, s);
      if (const auto* choice = ir::as<ir::Select>(n)) {
        work.push_back(choice->cond.get());
      } else if (const auto* b = ir::as<ir::Binary>(n); b && is_logical(b->op)) {
        work.push_back(b->a.get());
      } else if (n->kind != ir::Kind::Buffer) {
        ir::append_children(*n, work);
      }
    }
  }

  /// Where the index surely gets to, or nothing.
  bool span(const ir::Expr& e, Span& out) {
    const ir::Linear& sum = forms_.of(e.get());
    out.low = out.high = sum.constant;
    for (const ir::Linear::Term& term : sum.terms) {
      auto it = term.atom->kind == ir::Kind::Var ? last_.find(term.atom) : last_.end();
      if (it == last_.end()) return false;
      Wide reach = Wide{term.factor} * it->second;
      (reach > 0 ? out.high : out.low) += reach;
    }
    return true;
  }

  static bool on_chip(const ir::Buffer& b) { return b.space != ir::Space::global && b.space != ir::Space::workspace; }

  void element(const ir::Buffer& b, const ir::Exprs& indices, const ir::Node& s) {
    if (on_chip(b))
      for (size_t i = 0; i < indices.size(); ++i) axis(b, i, indices[i], 1, "index", s);
  }

  void region(const ir::Region& r, const ir::Node& s) {
    if (!on_chip(*r.buffer)) return;
    for (size_t i = 0; i < r.offset.size(); ++i) {
      int64_t size;
      if (ir::is_constant(r.extent[i], &size)) axis(*r.buffer, i, r.offset[i], size, "a region at", s);
    }
  }

  void axis(const ir::Buffer& b, size_t i, const ir::Expr& from, int64_t size, const char* what, const ir::Node& s) {
    Span at;
    int64_t n;
    if (!ir::is_constant(b.shape[i], &n) || !span(from, at)) return;
    Wide high = at.high + size - 1;
    if (at.low >= 0 && high < n) return;
    raise(static_cast<const ir::StmtNode&>(s).at,
          fmt::format("{} {} of axis {} reaches {}, outside {}, which is {}: valid are 0 to {}", what, text(from), i,
                      static_cast<int64_t>(at.low < 0 ? at.low : high), b.name, shown(b), n - 1),
          {{b.at, fmt::format("{} declared here", b.name)}});
  }

  std::unordered_map<const ir::Node*, int64_t> last_;  // the last values of the loop variables that are known here
  std::unordered_set<const ir::Node*> seen_;
  ir::LinearForms forms_;
};

}  // namespace

void check_indices(const ir::Stmt& body) { IndexChecker().statement(body); }

}  // namespace tilewright::detail
