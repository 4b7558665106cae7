// Arguments and symbols of a kernel, and the run of its builder.
#include "dsl/trace.h"

#include <fmt/format.h>

#include <map>

namespace tilewright {

namespace {

using detail::raise;
using detail::Trace;

void check_name(const char* what, const std::string& name, Location at) {
  bool good = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name)
    good = good && (c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
  if (!good) raise(at, fmt::format("{} name \"{}\" is not an identifier", what, name));
  DType type;
  if (parse_dtype(name, type)) raise(at, fmt::format("{} name \"{}\" is the name of a type", what, name));
}

/// Makes the symbols, tensors and scalars of a kernel.
class ArgumentMaker {
 public:
  ArgumentMaker(Trace& t, const Arguments& arguments) : t_(t) {
    for (const TensorSpec& spec : arguments.tensors) check_tensor(spec);
    for (const ScalarSpec& spec : arguments.scalars) check_scalar(spec);
    for (const TensorSpec& spec : arguments.tensors)
      for (const DimSpec& d : spec.dims) symbol(d, spec);
    for (const TensorSpec& spec : arguments.tensors)
      for (const DimSpec& d : spec.stride) symbol(d, spec);
    for (const TensorSpec& spec : arguments.tensors) make_tensor(spec);
    for (const ScalarSpec& spec : arguments.scalars) make_scalar(spec);
  }
  std::vector<ir::Ref<ir::Var>> vars;
  std::vector<ir::Ref<ir::Buffer>> params;
  std::vector<Buffer> tensors;
  std::vector<Expr> scalars;

 private:
  void claim(const char* what, const std::string& name, Location at) {
    check_name(what, name, at);
    auto [it, is_new] = taken_.emplace(name, std::pair(what, at));
    if (!is_new) {
      const auto& [first, where] = it->second;
      std::string both =
          first == std::string_view(what) ? fmt::format("two {}s", what) : fmt::format("a {} and a {}", first, what);
      raise(at, fmt::format("{} are named {}: names are unique in a kernel", both, name), {{where, "the first"}});
    }
    t_.unique(name);
  }
  void check_tensor(const TensorSpec& s) {
    claim("tensor", s.name, s.at);
    if (s.dims.empty() || s.dims.size() > 6)
      raise(s.at, fmt::format("tensor {} has {} axes: it must have 1 to 6", s.name, s.dims.size()));
    if (s.dtype.lanes != 1) raise(s.at, fmt::format("tensor {}: {} is not a scalar type", s.name, to_string(s.dtype)));
    if (!s.stride.empty() && s.row_major)
      raise(s.at, fmt::format("tensor {} is declared contiguous() and has strides(...)", s.name));
    if (!s.stride.empty() && s.stride.size() != s.dims.size())
      raise(s.at, fmt::format("tensor {} has {} axes but {} strides", s.name, s.dims.size(), s.stride.size()));
    for (const DimSpec& d : s.dims)
      if (d.name.empty() && d.fixed < 1)
        raise(s.at, fmt::format("tensor {}: an extent is {}: it must be at least 1", s.name, d.fixed));
    for (const DimSpec& d : s.stride)
      if (d.name.empty() && d.fixed < 0)
        raise(s.at, fmt::format("tensor {}: a stride is {}: it must be at least 0", s.name, d.fixed));
  }
  void check_scalar(const ScalarSpec& s) {
    claim("scalar", s.name, s.at);
    if (s.dtype.lanes != 1) raise(s.at, fmt::format("scalar {}: {} is not a scalar type", s.name, to_string(s.dtype)));
  }
  ir::Expr symbol(const DimSpec& d, const TensorSpec& s) {
    if (d.name.empty()) return ir::index(d.fixed);
    auto it = symbols_.find(d.name);
    if (it != symbols_.end()) return it->second;
    claim("symbol", d.name, s.at);
    auto var = ir::make<ir::Var>(d.name, i64);
    symbols_.emplace(d.name, var);
    vars.push_back(var);
    return var;
  }
  void make_tensor(const TensorSpec& s) {
    ir::Exprs shape, strides;
    for (const DimSpec& d : s.dims) shape.push_back(symbol(d, s));
    if (s.row_major) {
      ir::Expr step = ir::index(1);
      for (size_t i = shape.size(); i-- > 0; step = ir::mul(step, shape[i])) strides.insert(strides.begin(), step);
    } else if (!s.stride.empty()) {
      for (const DimSpec& d : s.stride) strides.push_back(symbol(d, s));
    } else {
      for (size_t i = 0; i < shape.size(); ++i) {
        auto var = ir::make<ir::Var>(t_.unique(fmt::format("{}_stride{}", s.name, i)), i64);
        vars.push_back(var);
        strides.push_back(var);
      }
    }
    auto buffer = ir::make_at<ir::Buffer>(s.at, s.name, s.dtype, shape, strides, ir::Space::global);
    params.push_back(buffer);
    detail::Place p;
    p.node = detail::hold(buffer.get());
    p.trace = t_.id, p.scope = t_.top().id, p.depth = 0;
    p.storage = static_cast<uint32_t>(t_.storages.size());
    t_.storages.push_back({s.name, ir::Space::global, s.access, s.at, 0, s.at, 0});
    t_.storage_of.emplace(buffer.get(), p.storage);
    tensors.emplace_back(s.dtype, std::move(p));
  }
  void make_scalar(const ScalarSpec& s) {
    auto var = ir::make<ir::Var>(s.name, s.dtype);
    vars.push_back(var);
    scalars.emplace_back(detail::named(t_, var, t_.top().id, 0));
  }

  Trace& t_;
  std::map<std::string, std::pair<const char*, Location>> taken_;  // what it names, and where
  std::map<std::string, ir::Expr> symbols_;
};

/// Runs the builder. An error in another file (a kernel of a library) also says who asked for it.
void run_builder(const std::string& name, Builder builder, ArgumentMaker& made, Location at) {
  try {
    builder.call(builder.context, made.tensors.data(), made.scalars.data());
  } catch (const UserError& e) {
    if (!e.location() || std::string_view(e.location().file) == at.file) throw;
    std::vector<Note> notes = e.notes();
    notes.push_back({at, fmt::format("while tracing kernel {}", name)});
    throw UserError(e.location(), e.message(), std::move(notes));
  }
}

}  // namespace

ir::Ref<ir::Kernel> trace(const std::string& name, const Arguments& arguments, Builder builder, Location at,
                          TraceLimits limits) {
  check_name("kernel", name, at);
  Trace t(name, limits, at);
  detail::Activate active(t);
  ArgumentMaker made(t, arguments);
  run_builder(name, builder, made, at);
  if (t.poison) std::rethrow_exception(t.poison);
  TW_CHECK(t.blocks.size() == 1, "dsl: a traced block is still open");
  bool any = false;
  for (const ir::Stmt& s : t.top().stmts) any = any || s->kind == ir::Kind::Grid;
  if (!any) raise(at, fmt::format("kernel {} has no grid: its body is a sequence of `for (... : grid(...))`", name));
  ir::Stmt body = ir::sequence(std::move(t.top().stmts), at);
  detail::check_indices(body);
  return ir::make_at<ir::Kernel>(at, name, ir::Stage::traced, made.vars, made.params, body);
}

}  // namespace tilewright
