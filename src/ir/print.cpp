// IR to text. One pass counts the uses of every expression, the next writes; expressions are walked with an explicit
// stack, and what is written recursively is at most kNameDepth levels deep because deeper parts have names.
#include <algorithm>

#include "base/check.h"
#include "base/pointer_map.h"
#include "ir/form.h"
#include "ir/lexer.h"
#include "ir/text.h"
#include "ir/walk.h"

namespace tilewright::ir {
namespace {

constexpr uint32_t kNameDepth = 64;

std::string_view word_of(LoopKind k) { return kLoopNames[static_cast<int>(k)]; }
std::string_view word_of(ReduceOp k) { return kReduceNames[static_cast<int>(k)]; }
std::string_view word_of(Precision k) { return kPrecisionNames[static_cast<int>(k)]; }

class Printer {
 public:
  explicit Printer(PrintOptions options) : options_(options) {}

  std::string run(const Node& node) {
    if (const Kernel* k = as<Kernel>(&node)) {
      kernel(*k);
    } else if (is_stmt(node.kind)) {
      count(static_cast<const StmtNode&>(node));
      statement(static_cast<const StmtNode&>(node));
    } else if (is_expr(node.kind)) {
      count_uses(&node);
      define(&node);
      expr(node);
    } else if (const Buffer* b = as<Buffer>(&node)) {
      for_each_head(*b, [&](const Expr& e) { count_uses(e.get()); });
      for_each_head(*b, [&](const Expr& e) { define(e.get()); });
      declaration(*b);
    } else if (const Region* r = as<Region>(&node)) {
      for_each_head(*r, [&](const Expr& e) { count_uses(e.get()); });
      for_each_head(*r, [&](const Expr& e) { define(e.get()); });
      field_value(ref(r));
    }
    return std::move(out_);
  }

 private:
  struct Seen {
    uint32_t uses = 0;
    uint32_t height = 0;  // levels that the text of this node takes, named parts apart; 0 = not reached yet
    int64_t number = -1;  // of its name
  };

  // ---- uses and names

  /// Calls f for each expression in the head of a statement, buffer or region, in the order of the text.
  template <class F>
  static void for_each_head(const Exprs& list, F&& f) {
    for (const Expr& e : list) f(e);
  }
  template <class F>
  static void for_each_head(const Expr& e, F&& f) {
    if (e) f(e);
  }
  template <class F>
  static void for_each_head(const Buffer& b, F&& f) {
    for_each_head(b.shape, f);
    for_each_head(b.strides, f);
  }
  template <class F>
  static void for_each_head(const Region& r, F&& f) {
    for (size_t i = 0; i < r.offset.size(); ++i) {
      f(r.offset[i]);
      if (i < r.extent.size()) f(r.extent[i]);
    }
  }
  template <class F>
  static void for_each_head(const Ref<Region>& r, F&& f) {
    if (r) for_each_head(*r, f);
  }
  template <class T, class F>
  static void for_each_head(const T&, F&&) {}
  template <class F>
  static void head_of(const StmtNode& s, F&& f) {
    dispatch(s, [&]<class T>(const T& n) {
      each_field(n, [&](std::string_view, const auto& value) { for_each_head(value, f); });
      if constexpr (T::kKind == Kind::Alloc)
        if (n.buffer) for_each_head(*n.buffer, f);
    });
  }

  Seen& seen(const Node* node) { return seen_[node]; }

  void count_uses(const Node* root) {
    std::vector<const Node*> todo{root};
    while (!todo.empty()) {
      const Node* node = todo.back();
      todo.pop_back();
      if (!is_expr(node->kind) || ++seen(node).uses > 1) continue;
      append_children(*node, todo);
    }
  }
  void count(const StmtNode& s) {
    head_of(s, [&](const Expr& e) { count_uses(e.get()); });
    each_block(s, [&](const Stmt& body) { count(*body); });
  }
  template <class F>
  static void each_block(const StmtNode& s, F&& f) {
    dispatch(s, [&](const auto& n) {
      each_field(n, [&](std::string_view, const auto& value) {
        using V = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<V, Stmt>) {
          if (value) f(value);
        } else if constexpr (std::is_same_v<V, Stmts>) {
          for (const Stmt& x : value) f(x);
        }
      });
    });
  }

  /// Writes the lines that name parts of `root`, and of nothing else.
  void define(const Node* root) {
    if (root->kind == Kind::Const || root->kind == Kind::Var || seen(root).height) return;
    struct Frame {
      const Node* node;
      size_t first, next;
    };
    std::vector<Frame> stack;
    std::vector<const Node*> pool;
    auto enter = [&](const Node* node) {
      stack.push_back({node, pool.size(), pool.size()});
      append_children(*node, pool);
    };
    enter(root);
    while (!stack.empty()) {
      if (stack.back().next < pool.size()) {
        const Node* child = pool[stack.back().next++];
        if (is_expr(child->kind) && !seen(child).height) enter(child);
        continue;
      }
      auto [node, first, next] = stack.back();
      uint32_t height = 0;
      for (size_t i = first; i < pool.size(); ++i) {
        if (!is_expr(pool[i]->kind)) continue;
        const Seen& child = seen(pool[i]);
        height = std::max(height, child.number >= 0 ? 0 : child.height);
      }
      pool.resize(first);
      stack.pop_back();
      Seen& mine = seen(node);
      mine.height = height + 1;
      if (node->kind == Kind::Const || node->kind == Kind::Var) continue;
      if (mine.uses < 2 && mine.height < kNameDepth) continue;
      indent();
      out_ += '%';
      out_ += std::to_string(names_);
      out_ += " = ";
      expr(*node);
      out_ += '\n';
      mine.number = names_++;
    }
  }

  // ---- expressions

  void expr(const Node& node) {
    if (const Seen* s = seen_.find(&node); s && s->number >= 0) {
      out_ += '%';
      out_ += std::to_string(s->number);
      return;
    }
    dispatch(node, [&]<class T>(const T& n) {
      if constexpr (std::is_base_of_v<ExprNode, T>) write(n);
    });
  }
  void expr(const Expr& e) {
    if (e)
      expr(*e);
    else
      out_ += "null";
  }
  void list(const Exprs& exprs) {
    for (size_t i = 0; i < exprs.size(); ++i) {
      if (i) out_ += ", ";
      expr(exprs[i]);
    }
  }
  void call(std::string_view name, std::initializer_list<Expr> args) {
    out_ += name;
    out_ += '(';
    list(args);
    out_ += ')';
  }
  void write(const Const& n) { out_ += to_string(n.value); }
  void write(const Var& n) { append_name(out_, n.name); }
  void write(const Unary& n) { call(name_of(n.op), {n.a}); }
  void write(const Binary& n) {
    std::string_view spelling = spelling_of(n.op);
    if (spelling.empty()) return call(name_of(n.op), {n.a, n.b});
    out_ += '(';
    expr(n.a);
    out_ += ' ';
    out_ += spelling;
    out_ += ' ';
    expr(n.b);
    out_ += ')';
  }
  void write(const Select& n) { call("select", {n.cond, n.a, n.b}); }
  void write(const Fma& n) { call("fma", {n.a, n.b, n.c}); }
  void write(const Cast& n) {
    out_ += "cast<";
    out_ += to_string(n.type);
    if (n.overflow == Overflow::inf_nan) out_ += ", inf_nan";
    out_ += ">(";
    expr(n.a);
    out_ += ')';
  }
  void write(const Load& n) {
    buffer_name(n.buffer);
    out_ += '[';
    list(n.indices);
    out_ += ']';
  }

  // ---- fields of statements

  void buffer_name(const Ref<Buffer>& b) {
    if (b)
      append_name(out_, b->name);
    else
      out_ += "null";
  }
  void binding(const Var& v, bool with_type) {
    append_name(out_, v.name);
    if (!with_type && v.type == i64) return;
    out_ += ": ";
    out_ += to_string(v.type);
  }
  void declaration(const Buffer& b) {
    append_name(out_, b.name);
    out_ += ": ";
    out_ += to_string(b.dtype);
    out_ += '[';
    list(b.shape);
    out_ += ']';
    if (b.space != Space::global) {
      out_ += ' ';
      out_ += kSpaceNames[static_cast<int>(b.space)];
    }
    if (!b.strides.empty()) {
      out_ += " strides [";
      list(b.strides);
      out_ += ']';
    }
    if (!b.memory.empty()) {
      out_ += " memory ";
      append_name(out_, b.memory);
    }
    if (b.offset != -1) {
      out_ += " offset ";
      out_ += std::to_string(b.offset);
    }
    if (!b.layout.empty()) {
      out_ += " layout ";
      append_quoted(out_, b.layout);
    }
  }

  void field_value(const Expr& e) { expr(e); }
  void field_value(const Ref<Buffer>& b) { buffer_name(b); }
  void field_value(const Ref<Var>& v) {
    if (v)
      binding(*v, false);
    else
      out_ += "null";
  }
  void field_value(const Ref<Region>& r) {
    if (!r) {
      out_ += "null";
      return;
    }
    buffer_name(r->buffer);
    out_ += '[';
    for (size_t i = 0; i < std::max(r->offset.size(), r->extent.size()); ++i) {
      if (i) out_ += ", ";
      expr(i < r->offset.size() ? r->offset[i] : nullptr);
      out_ += ":+";
      expr(i < r->extent.size() ? r->extent[i] : nullptr);
    }
    out_ += ']';
  }
  void field_value(const std::string& word) { append_name(out_, word); }
  void field_value(bool v) { out_ += v ? "true" : "false"; }
  void field_value(int64_t v) { out_ += std::to_string(v); }
  template <class E>
    requires std::is_enum_v<E>
  void field_value(E v) {
    out_ += word_of(v);
  }
  void field_value(const Exprs& exprs, bool bracketed) {
    if (exprs.empty() && !bracketed) out_ += "()";
    list(exprs);
  }
  void field_value(const std::vector<Ref<Var>>& vars, bool) {
    if (vars.empty()) out_ += "()";
    for (size_t i = 0; i < vars.size(); ++i) {
      if (i) out_ += ", ";
      field_value(vars[i]);
    }
  }

  // ---- statements

  void indent() { out_.append(static_cast<size_t>(indent_) * 2, ' '); }

  void location(const Location& at) {
    if (!options_.locations || !at) return;
    out_ += " @";
    append_quoted(out_, at.file);
    out_ += ':';
    out_ += std::to_string(at.line);
    out_ += ':';
    out_ += std::to_string(at.column);
  }

  /// { statements }. `at` is printed behind the opening brace, when it has not been printed before.
  void block(const Stmt& body, Location* at) {
    const Seq* seq = as<Seq>(body);
    braces(!body || (seq && seq->stmts.empty()), at, [&] { inside(body); });
  }
  template <class F>
  void braces(bool empty, Location* at, F&& statements) {
    if (!options_.bodies || empty) {
      out_ += empty ? "{}" : "{...}";
      return;
    }
    out_ += '{';
    location(*at);
    *at = {};
    out_ += '\n';
    ++indent_;
    statements();
    --indent_;
    indent();
    out_ += '}';
  }
  /// The statements of a block, without the braces.
  void inside(const Stmt& body) {
    const Seq* seq = as<Seq>(body);
    if (seq && seq->stmts.size() != 1) {
      for (const Stmt& s : seq->stmts) statement(*s);
    } else if (body) {
      statement(*body);
    }
  }

  void statement(const StmtNode& s) {
    head_of(s, [&](const Expr& e) { define(e.get()); });
    indent();
    Location at = s.at;
    if (const Seq* seq = as<Seq>(&s)) {
      out_ += "seq ";
      braces(seq->stmts.empty(), &at, [&] {
        for (const Stmt& x : seq->stmts) statement(*x);
      });
    } else {
      dispatch(s, [&]<class T>(const T& n) {
        if constexpr (std::is_base_of_v<StmtNode, T>) by_form(n, at);
      });
    }
    location(at);
    out_ += '\n';
  }

  template <class T>
  void by_form(const T& n, Location& at) {
    bool skipping = false;
    each_part(T::kForm, [&](FormPart part) {
      if (part.kind == FormPart::close_group) skipping = false;
      if (part.kind == FormPart::open_group)
        each_field(n,
                   [&](std::string_view name, const auto&) { skipping |= name == part.text && is_default(n, name); });
      if (skipping) return;
      if (part.kind == FormPart::literal) out_ += part.text;
      if (part.kind != FormPart::field) return;
      each_field(n, [&](std::string_view name, const auto& value) {
        using V = std::remove_cvref_t<decltype(value)>;
        if (name != part.text) return;
        if constexpr (std::is_same_v<V, Stmt>)
          block(value, &at);
        else if constexpr (T::kKind == Kind::Alloc)
          value ? declaration(*value) : void(out_ += "null");
        else if constexpr (std::is_same_v<V, Exprs> || std::is_same_v<V, std::vector<Ref<Var>>>)
          field_value(value, part.bracketed);
        else if constexpr (!std::is_same_v<V, Stmts>)
          field_value(value);
      });
    });
  }
  template <class T>
  static bool is_default(const T& n, std::string_view field_name) {
    bool result = false;
    auto one = [&](auto f) {
      if (f.name != field_name) return;
      using V = std::remove_cvref_t<decltype(n.*(f.member))>;
      if constexpr (requires { (n.*(f.member)).get(); })
        result = !(n.*(f.member));
      else if constexpr (std::is_integral_v<V> || std::is_enum_v<V> || std::is_same_v<V, std::string>)
        result = n.*(f.member) == default_of(f.member);
    };
    std::apply([&](auto... f) { (one(f), ...); }, T::fields());
    return result;
  }
  template <class T, class V>
  static V default_of(V T::* member) {
    static const T kDefault;
    return kDefault.*member;
  }

  void kernel(const Kernel& k) {
    for (const auto& p : k.params) for_each_head(*p, [&](const Expr& e) { count_uses(e.get()); });
    if (k.body) count(*k.body);
    out_ += "kernel ";
    append_name(out_, k.name);
    out_ += " stage ";
    out_ += name_of(k.stage);
    out_ += " {";
    location(k.at);
    out_ += '\n';
    indent_ = 1;
    for (const auto& v : k.scalars) {
      out_ += "  scalar ";
      binding(*v, true);
      out_ += '\n';
    }
    for (const auto& p : k.params) {
      for_each_head(*p, [&](const Expr& e) { define(e.get()); });
      out_ += "  param ";
      declaration(*p);
      location(p->at);
      out_ += '\n';
    }
    if (options_.bodies)
      inside(k.body);
    else
      out_ += "  ...\n";
    out_ += "}\n";
  }

  PrintOptions options_;
  std::string out_;
  PointerMap<Seen> seen_;
  int64_t names_ = 0;
  int indent_ = 0;
};

}  // namespace

std::string print(const Any& node, PrintOptions options) {
  if (!node) return "null";
  return Printer(options).run(*node);
}

}  // namespace tilewright::ir
