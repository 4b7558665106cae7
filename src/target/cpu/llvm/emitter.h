#pragma once
// A kernel in loops form as one LLVM module. Phase i becomes
//   void ENTRY(i64 first_block, i64 last_block, ptr tensors, ptr scalars, ptr scratch)
// which runs the blocks first_block .. last_block - 1. `tensors` and `scalars` are those of BoundArguments; `scratch`
// is aligned to 64 bytes. A fault of the kernel (not the user's: of the passes) is thrown as an InternalError.
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/nodes.h"
#include "ir/walk.h"
#include "runtime/launch_plan.h"
#include "target/cpu/llvm/values.h"

namespace tilewright::cpu {

class Emitter {
 public:
  /// `attributes` are set on every function: target-cpu and target-features.
  Emitter(llvm::Module& module, const ir::Kernel& kernel, const LaunchPlan& plan,
          std::vector<std::pair<std::string, std::string>> attributes);
  void emit();

 private:
  // Buffers (emit_kernel.cpp). ----------------------------------------------------------------------------------------
  struct Place {
    const ir::Buffer* buffer = nullptr;
    Value* base = nullptr;
    int64_t bytes = 0;          // 0 for a tensor
    bool in_registers = false;  // its own stack slot, which LLVM promotes where it can
    size_t parallel_depth = 0;  // parallel loops around its alloc: their iterations share it
    llvm::MDNode *scope = nullptr, *noalias = nullptr;
  };
  void find_loads();
  void emit_phase(const ir::For& loop, const Phase& phase);
  void bind_scalars(Value* scalars);
  void bind_tensors(Value* tensors);
  void bind_scratch(const ir::Stmt& body, Value* scratch);
  void run_blocks(const ir::For& node, Value* first, Value* end);
  void separate();
  Place& place_of(const ir::Buffer& buffer);
  Value* element_index(const ir::Buffer& buffer, const ir::Exprs& at);
  Value* load(const ir::Load& node);
  Value* load_code(const Place& place, Value* index);
  void store(const ir::Store& node);
  void store_code(const Place& place, Value* index, Value* code);
  llvm::Instruction* annotate(llvm::Instruction* access, const Place& place, bool whole_bytes);

  // Statements (emit_kernel.cpp). -------------------------------------------------------------------------------------
  void statement(const ir::StmtNode& node);
  void when(const ir::When& node);
  void loop(const ir::For& node);
  using Body = ir::FunctionRef<void()>;
  void nest(const ir::For& node, const std::vector<Value*>& extents, size_t axis, Body body);
  llvm::MDNode* loop_facts(const ir::For& node, Value* count, bool innermost, llvm::MDNode* group);
  void count_loop(const ir::Var& var, Value* first, Value* end, llvm::MDNode* facts, Body body);
  bool extremum_reduction(const ir::For& node, const std::vector<Value*>& extents);
  void under(Value* condition, Body body);
  Value* slot(llvm::Type* type, uint64_t count = 1);

  // Expressions (emit_expr.cpp). --------------------------------------------------------------------------------------
  Value* value(const ir::Expr& root);
  Value* compute(const ir::ExprNode& node);
  void operands(const ir::ExprNode& node, std::vector<const ir::ExprNode*>& out) const;
  bool is_lazy(const ir::ExprNode& node) const;
  Value* choose(Value* condition, const ir::Expr* if_true, const ir::Expr* if_false, Value* otherwise);
  Value* variable(const ir::Var& var) const;
  Value* index_value(const ir::Expr& e);
  void remember(const ir::ExprNode* node, Value* v);
  bool reads_memory(const ir::Node* node) const { return loads_.count(node) != 0; }

  /// Values computed in a scope are forgotten at its end: they do not dominate what follows.
  class Scope {
   public:
    explicit Scope(Emitter& e) : e_(e), known_(e.known_log_.size()), read_(e.read_log_.size()) {}
    ~Scope() { e_.forget(known_, read_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Emitter& e_;
    size_t known_, read_;
  };
  void forget(size_t known, size_t read);
  /// Values that depend on memory do not outlive a statement.
  void forget_reads();

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  Values values_;
  const ir::Kernel& kernel_;
  const LaunchPlan& plan_;
  std::vector<std::pair<std::string, std::string>> attributes_;
  std::unordered_set<const ir::Node*> loads_;
  std::unordered_map<std::string, Value*> variables_;
  std::unordered_map<std::string, Place> places_;
  std::vector<std::string> place_order_;
  std::unordered_map<const ir::Node*, Value*> known_;
  std::vector<const ir::Node*> known_log_, read_log_;
  std::vector<llvm::MDNode*> parallel_groups_;  // of the parallel loops around the current point, outermost first
  llvm::Function* function_ = nullptr;
};

}  // namespace tilewright::cpu
