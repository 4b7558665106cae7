#pragma once
// The kernel being traced on this thread: its open blocks, its tiles with their epochs, and the checks that a statement
// makes before it is appended.
#include <atomic>
#include <exception>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/build.h"
#include "tilewright/dsl.h"

namespace tilewright::detail {

struct Read {
  uint32_t storage, epoch;
  Location at;
};

/// Sorted by storage.
class Reads {
 public:
  std::vector<Read> list;
  mutable std::atomic<uint32_t> refs{0};
};

/// A buffer of the trace. Each statement that writes it starts a new epoch.
struct Storage {
  std::string name;
  ir::Space space;
  TensorSpec::Access access = TensorSpec::Access::inferred;
  Location at;
  uint32_t epoch = 0;
  Location written;       // the statement that started the epoch
  uint32_t parallel = 0;  // the `parallel` block whose iterations own it; 0: none
};

/// An open traced block.
struct Block {
  enum class What : uint8_t { kernel, grid, loop, when };
  uint32_t id = 0;
  What what = What::kernel;
  ir::LoopKind how = ir::LoopKind::serial;
  Location at;
  uint32_t parallel = 0;  // the innermost `parallel` block, itself included; 0: none
  bool certain = true;    // the body runs at least once whenever the block around it does
  std::vector<ir::Ref<ir::Var>> vars;
  ir::Exprs extents;
  ir::Stmts stmts;
};

/// Where a named value (loop variable, let) belongs.
struct NameScope {
  std::string what;  // "loop variable i", "let value let0"
  uint32_t scope = 0;
  ir::Expr value;  // of a let
};

struct TraceLimits {
  int64_t nodes = 5'000'000;
  int64_t nesting = 200;
};

class Trace {
 public:
  Trace(std::string name, TraceLimits limits, Location at);

  uint32_t id;
  std::string kernel;
  TraceLimits limits;
  std::vector<Block> blocks;
  std::vector<Storage> storages;
  std::unordered_map<const ir::Node*, NameScope> names;
  std::unordered_map<const ir::Node*, uint32_t> storage_of;  // ir::Buffer -> index
  std::exception_ptr last, poison;
  int64_t nodes = 0;

  Block& top() { return blocks.back(); }
  bool is_open(uint32_t scope, uint32_t depth) const { return depth < blocks.size() && blocks[depth].id == scope; }
  bool in_grid() const { return blocks.size() > 1; }

  /// "i", then "i_1", "i_2".
  std::string unique(const std::string& wanted);
  /// "shared0", "shared1".
  std::string numbered(const char* prefix);
  void count_nodes(int64_t n, Location at);
  void append(ir::Stmt s) { top().stmts.push_back(std::move(s)); }
  void push(Block block);
  Block pop();
  /// The storage gets a new epoch.
  void wrote(uint32_t storage, Location at);

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> next_;
};

/// Throws a UserError that later operations of an abandoned trace repeat.
[[noreturn]] void raise(Location at, const std::string& message, std::vector<Note> notes = {});

/// The trace of this thread, or null.
Trace* active();
/// Makes `t` the trace of this thread until the end of the scope.
class Activate {
 public:
  explicit Activate(Trace& t);
  ~Activate();
  Activate(const Activate&) = delete;
  Activate& operator=(const Activate&) = delete;

 private:
  Trace* before_;
};
/// The trace of this thread; an error outside a kernel, and the recorded error in an abandoned trace.
Trace& current(const char* what, Location at);
/// The same, inside a grid.
Trace& current_in_grid(const char* what, Location at);
/// The same for a statement on whole tiles: refused inside `parallel`.
Trace& current_block_level(const char* what, Location at);
/// Drops the innermost block and abandons the trace: `e`, our last error, or "an exception left this traced loop".
void abandon(Trace& t, Location at, std::exception_ptr e);

/// Refuses a value that a statement may not use here: another kernel's, a closed loop's, another block's or a stale
/// read.
void check(Trace& t, const Value& v, Location at);
void check(Trace& t, const Place& p, Location at);
/// Refuses a write that its buffer does not allow here.
void check_write(Trace& t, uint32_t storage, Location at, const char* what);
void check_read(Trace& t, uint32_t storage, Location at, const char* what);

inline ir::Expr node_of(const Value& v) { return ir::Expr(static_cast<const ir::ExprNode*>(v.node.get())); }
inline const ir::Buffer& buffer_of(const Place& p) { return *static_cast<const ir::Buffer*>(p.node.get()); }
inline ir::Ref<ir::Buffer> buffer_ref(const Place& p) {
  return ir::Ref<ir::Buffer>(static_cast<const ir::Buffer*>(p.node.get()));
}
inline Counted<ir::Node> hold(const ir::Node* n) { return Counted<ir::Node>(n); }

/// The dependencies of a value made of both (no node, no type).
Value join(const Value& a, const Value& b, Location at);
/// Adds b's dependencies to a.
void add_uses(Value& a, const Value& b, Location at);
/// A value that depends on `scope` alone.
Value named(const Trace& t, const ir::Expr& node, uint32_t scope, uint32_t depth);

/// Floats below f32 are computed in f32.
inline DType compute_type(DType t) { return t.is_narrow_float() ? f32 : t; }
/// The value's node as `t`: a literal must fit; another value is converted.
ir::Expr as_type(const Operand& o, DType t, const char* what);
/// What a literal is without another operand: i64, f32 or bool.
Operand settled(const Operand& o);
/// The node as a value stored in memory of type `t`, by the rules of a store.
ir::Expr stored_as(const Operand& o, DType t, const char* what, const std::string& where);
/// The value as an i64 index or extent.
ir::Expr as_index(const Operand& o, const char* what);
void require_value(const Value& v, Location at);

/// "(128, 32) f16", "(M, 4) f32".
std::string shape_text(const ir::Exprs& extents);
std::string text(const ir::Expr& e);
std::string shown(const ir::Buffer& b);
Note declared(const Trace& t, uint32_t storage, const char* role);

/// Refuses an element or a region of an on-chip tile that is outside it for some iteration of the loops around it,
/// whenever its statement is reached.
void check_indices(const ir::Stmt& body);

}  // namespace tilewright::detail
