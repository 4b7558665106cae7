// The trace slot, errors that outlive a traced scope, and the checks on values.
#include "dsl/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.h"

namespace tilewright::detail {

namespace {
thread_local Trace* slot = nullptr;
std::atomic<uint32_t> next_trace{0}, next_scope{0};  // of the process: a value may reach another thread
}  // namespace

void retain(const Reads* reads) noexcept { reads->refs.fetch_add(1, std::memory_order_relaxed); }
void release(const Reads* reads) noexcept {
  if (reads->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete reads;
}

// ---- the trace ------------------------------------------------------------------------------------------------------

Trace::Trace(std::string name, TraceLimits limits_, Location at)
    : id(++next_trace), kernel(std::move(name)), limits(limits_) {
  Block root;
  root.id = ++next_scope;
  root.at = at;
  blocks.push_back(std::move(root));
}

std::string Trace::unique(const std::string& wanted) {
  std::string name = wanted;
  while (!used_.insert(name).second) name = fmt::format("{}_{}", wanted, ++next_[wanted]);
  return name;
}

std::string Trace::numbered(const char* prefix) {
  std::string name;
  do {
    name = fmt::format("{}{}", prefix, next_[prefix]++);
  } while (!used_.insert(name).second);
  return name;
}

void Trace::count_nodes(int64_t n, Location at) {
  nodes += n;
  if (nodes <= limits.nodes) return;
  const Block& b = blocks.back();
  std::string where = b.what == Block::What::kernel ? "kernel " + kernel
                      : b.what == Block::What::grid ? "this grid"
                      : b.what == Block::What::when ? "this when"
                                                    : fmt::format("this {} loop", ir::kLoopNames[size_t(b.how)]);
  raise(at,
        fmt::format("the trace has more than {} nodes: a host loop around traced code writes its body out each time, "
                    "a traced loop (serial) writes it once",
                    limits.nodes),
        {{b.at, "while tracing " + where}});
}

void Trace::push(Block block) {
  if (static_cast<int64_t>(blocks.size()) > limits.nesting)
    raise(block.at, fmt::format("more than {} nested traced blocks", limits.nesting));
  block.id = ++next_scope;
  bool is_parallel = block.what == Block::What::loop && block.how == ir::LoopKind::parallel;
  block.parallel = is_parallel ? block.id : top().parallel;
  blocks.push_back(std::move(block));
}

Block Trace::pop() {
  Block b = std::move(blocks.back());
  blocks.pop_back();
  return b;
}

void Trace::wrote(uint32_t storage, Location at) {
  storages[storage].epoch++;
  storages[storage].written = at;
}

// ---- errors ---------------------------------------------------------------------------------------------------------

void raise(Location at, const std::string& message, std::vector<Note> notes) {
  UserError e(at, message, std::move(notes));
  if (slot) slot->last = std::make_exception_ptr(e);
  throw e;
}

Trace* active() { return slot; }
Activate::Activate(Trace& t) : before_(std::exchange(slot, &t)) {}
Activate::~Activate() { slot = before_; }

Trace& current(const char* what, Location at) {
  if (!slot) raise(at, fmt::format("{} is used outside a kernel", what));
  if (slot->poison) std::rethrow_exception(slot->poison);
  slot->last = nullptr;  // an earlier error was caught where it was raised
  return *slot;
}

Trace& current_in_grid(const char* what, Location at) {
  Trace& t = current(what, at);
  if (!t.in_grid())
    raise(at, fmt::format("{} is outside a grid: a kernel body is a sequence of `for (... : grid(...))`", what));
  return t;
}

Trace& current_block_level(const char* what, Location at) {
  Trace& t = current_in_grid(what, at);
  if (t.top().parallel) {
    Location loop = at;
    for (const Block& b : t.blocks)
      if (b.id == t.top().parallel) loop = b.at;
    raise(at, fmt::format("{} works on whole tiles and cannot be inside parallel: use elements there, t(i, j)", what),
          {{loop, "the parallel loop"}});
  }
  return t;
}

void abandon(Trace& t, Location at, std::exception_ptr e) {
  t.pop();
  if (t.poison) return;
  if (e)
    t.poison = e;
  else if (t.last)
    t.poison = t.last;
  else
    t.poison = std::make_exception_ptr(UserError(at, "an exception left this traced loop: the kernel is abandoned"));
}

uint32_t current_block() { return slot ? slot->blocks.back().id : 0; }

void check_assignable(uint32_t block, Location at) {
  if (block == current_block()) return;
  if (slot && slot->poison) std::rethrow_exception(slot->poison);
  raise(at,
        "this host variable is declared outside this traced block, which is traced once: an assignment here would not "
        "happen in each iteration; use var(dtype, init)",
        slot ? std::vector<Note>{{slot->top().at, "the traced block"}} : std::vector<Note>{});
}

// ---- dependencies ---------------------------------------------------------------------------------------------------

namespace {

const Read* find(const std::vector<Read>& list, uint32_t storage) {
  auto it =
      std::lower_bound(list.begin(), list.end(), storage, [](const Read& r, uint32_t s) { return r.storage < s; });
  return it != list.end() && it->storage == storage ? &*it : nullptr;
}

/// Whether `a` names every storage of `b` with an epoch at least as old.
bool covers_all(const Reads& a, const Reads& b) {
  if (a.list.size() < b.list.size()) return false;
  for (const Read& r : b.list) {
    const Read* mine = find(a.list, r.storage);
    if (!mine || mine->epoch > r.epoch) return false;
  }
  return true;
}

Counted<Reads> merge(const Counted<Reads>& a, const Counted<Reads>& b) {
  if (!b.get() || a.get() == b.get()) return a;
  if (!a.get() || covers_all(*b.get(), *a.get())) {
    if (a.get() && covers_all(*a.get(), *b.get())) return a;
    return b;
  }
  if (covers_all(*a.get(), *b.get())) return a;
  auto* made = new Reads;
  Counted<Reads> owner(made);
  const auto &x = a.get()->list, &y = b.get()->list;
  made->list.reserve(x.size() + y.size());
  for (size_t i = 0, j = 0; i < x.size() || j < y.size();) {
    if (j == y.size() || (i < x.size() && x[i].storage < y[j].storage))
      made->list.push_back(x[i++]);
    else if (i == x.size() || y[j].storage < x[i].storage)
      made->list.push_back(y[j++]);
    else {
      made->list.push_back(x[i].epoch <= y[j].epoch ? x[i] : y[j]);
      ++i, ++j;
    }
  }
  return owner;
}

[[noreturn]] void raise_closed(Trace& t, const Value& v, Location at) {
  std::string what = "this value";
  ir::post_order(ir::Any(v.node.get()), [&](const ir::Node& n) {
    auto it = t.names.find(&n);
    if (it != t.names.end() && it->second.scope == v.scope) what = it->second.what;
  });
  raise(at, fmt::format("{} is used outside the traced block that made it", what));
}

[[noreturn]] void raise_other_kernel(Location at) {
  raise(at, "this value belongs to another kernel: values of one trace mean nothing in another");
}

[[noreturn]] void raise_other_block(Trace& t, const Value& v, Location at) {
  std::vector<Note> notes;
  std::string name = "a tile";
  if (v.reads.get() && !v.reads.get()->list.empty()) {
    const Read& r = v.reads.get()->list.front();
    if (r.storage < t.storages.size()) name = t.storages[r.storage].name;
    notes.push_back({r.at, fmt::format("{} is read here", name)});
  }
  raise(at,
        fmt::format("this value of {} was read in another block: a loop body or a when is a block of its own; keep the "
                    "value with let(...)",
                    name),
        std::move(notes));
}

}  // namespace

void require_value(const Value& v, Location at) {
  if (!v.node.get()) raise(at, "this Expr has no value: it was default-made or moved from");
}

Value join(const Value& a, const Value& b, Location at) {
  if (a.trace && b.trace && a.scope != b.scope && slot && slot->id == a.trace && !slot->is_open(a.scope, a.depth))
    raise_closed(*slot, a, at);
  Value r;
  r.trace = a.trace, r.scope = a.scope, r.depth = a.depth, r.block = a.block, r.reads = a.reads;
  add_uses(r, b, at);
  return r;
}

void add_uses(Value& a, const Value& b, Location at) {
  if (!b.trace) return;
  if (!a.trace) {
    a.trace = b.trace, a.scope = b.scope, a.depth = b.depth, a.block = b.block, a.reads = b.reads;
    return;
  }
  if (a.trace != b.trace) raise_other_kernel(at);
  if (a.scope != b.scope) {
    // Two open blocks lie on one path; the inner one decides.
    if (!slot || slot->id != a.trace) raise(at, "this value is used outside its kernel");
    if (!slot->is_open(a.scope, a.depth)) raise(at, "a value is used outside the traced block that made it");
    if (!slot->is_open(b.scope, b.depth)) raise_closed(*slot, b, at);
    if (b.depth > a.depth) a.scope = b.scope, a.depth = b.depth;
  }
  if (b.block && a.block && a.block != b.block) {
    if (!slot || slot->id != a.trace) raise(at, "this value is used outside its kernel");
    raise_other_block(*slot, a.block == slot->top().id ? b : a, at);
  }
  if (!a.block) a.block = b.block;
  a.reads = merge(a.reads, b.reads);
}

Value named(const Trace& t, const ir::Expr& node, uint32_t scope, uint32_t depth) {
  Value v;
  v.node = hold(node.get());
  v.type = node->dtype;
  v.trace = t.id, v.scope = scope, v.depth = depth;
  return v;
}

void check(Trace& t, const Value& v, Location at) {
  require_value(v, at);
  if (!v.trace) return;
  if (v.trace != t.id) raise_other_kernel(at);
  if (!t.is_open(v.scope, v.depth)) raise_closed(t, v, at);
  if (!v.block) return;
  if (v.block != t.top().id) raise_other_block(t, v, at);
  for (const Read& r : v.reads.get()->list) {
    const Storage& s = t.storages[r.storage];
    if (s.epoch == r.epoch) continue;
    raise(at,
          fmt::format("this value of {} is stale: {} was written after the read; keep the value with let(...)", s.name,
                      s.name),
          {{r.at, fmt::format("{} is read here", s.name)}, {s.written, fmt::format("{} is written here", s.name)}});
  }
}

void check(Trace& t, const Place& p, Location at) {
  const std::string& name = buffer_of(p).name;
  if (p.trace != t.id) raise(at, fmt::format("tile {} belongs to another kernel", name));
  if (!t.is_open(p.scope, p.depth))
    raise(at, fmt::format("tile {} is used outside the traced block that made it", name),
          {declared(t, p.storage, name.c_str())});
}

void check_write(Trace& t, uint32_t storage, Location at, const char* what) {
  const Storage& s = t.storages[storage];
  if (s.access == TensorSpec::Access::in)
    raise(at, fmt::format("{} writes {}, which the signature declares in()", what, s.name),
          {declared(t, storage, s.name.c_str())});
  bool iteration_only = s.space == ir::Space::var || s.space == ir::Space::local;
  if (iteration_only && s.parallel != t.top().parallel)
    raise(at,
          fmt::format("{} writes {} {} inside parallel, but it is one for the whole block: make it inside the loop, or "
                      "use a reduction",
                      what, ir::kSpaceNames[size_t(s.space)], s.name),
          {declared(t, storage, s.name.c_str())});
}

void check_read(Trace& t, uint32_t storage, Location at, const char* what) {
  const Storage& s = t.storages[storage];
  if (s.access == TensorSpec::Access::out)
    raise(at, fmt::format("{} reads {}, which the signature declares out(): declare it inout()", what, s.name),
          {declared(t, storage, s.name.c_str())});
}

// ---- text for messages ----------------------------------------------------------------------------------------------

namespace {
std::string text_to_depth(const ir::Expr& e, int depth) {
  if (const auto* c = ir::as<ir::Const>(e))
    return c->value.type.is_float() ? fmt::format("{}", c->value.as_double()) : fmt::format("{}", c->value.as_int());
  if (const auto* v = ir::as<ir::Var>(e)) return v->name;
  if (depth == 0) return "...";
  auto part = [depth](const ir::Expr& x) { return text_to_depth(x, depth - 1); };
  if (const auto* b = ir::as<ir::Binary>(e)) {
    std::string_view op = spelling_of(b->op);
    return op.empty() ? fmt::format("{}({}, {})", name_of(b->op), part(b->a), part(b->b))
                      : fmt::format("({} {} {})", part(b->a), op, part(b->b));
  }
  if (const auto* u = ir::as<ir::Unary>(e)) return fmt::format("{}({})", name_of(u->op), part(u->a));
  if (const auto* c = ir::as<ir::Cast>(e)) return fmt::format("cast({}, {})", to_string(c->dtype), part(c->a));
  if (const auto* s = ir::as<ir::Select>(e))
    return fmt::format("select({}, {}, {})", part(s->cond), part(s->a), part(s->b));
  if (const auto* l = ir::as<ir::Load>(e)) {
    std::string s;
    for (const ir::Expr& i : l->indices) s += (s.empty() ? "" : ", ") + part(i);
    return fmt::format("{}({})", l->buffer->name, s);
  }
  return "...";
}
}  // namespace

std::string text(const ir::Expr& e) { return text_to_depth(e, 4); }

std::string shape_text(const ir::Exprs& extents) {
  std::string s = "(";
  for (size_t i = 0; i < extents.size(); ++i) s += (i ? ", " : "") + text(extents[i]);
  return s + ")";
}

std::string shown(const ir::Buffer& b) { return fmt::format("{} {}", shape_text(b.shape), to_string(b.dtype)); }

Note declared(const Trace& t, uint32_t storage, const char* role) {
  return {t.storages[storage].at, fmt::format("{} declared here", role)};
}

}  // namespace tilewright::detail
