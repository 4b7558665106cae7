#include "base/pointer_map.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "samples.h"

namespace tilewright::ir {

bool same_graph(const Any& a, const Any& b, std::string& why) {
  if (!equal(a, b)) {
    why = "not equal";
    return false;
  }
  // A bijection of nodes; constants, which the text does not share, aside.
  PointerMap<const Node*> right_of, left_of;
  std::vector<std::pair<const Node*, const Node*>> todo{{a.get(), b.get()}};
  while (!todo.empty()) {
    auto [x, y] = todo.back();
    todo.pop_back();
    if (x->kind == Kind::Const) continue;
    const Node** known = right_of.find(x);
    const Node** back = left_of.find(y);
    if (known && back && *known == y && *back == x) continue;
    if ((known || back) && is_expr(x->kind)) {
      why = "shared in one of the two: " + print(Any(x)).substr(0, 200);
      return false;
    }
    right_of.insert(x, y);
    left_of.insert(y, x);
    std::vector<const Node*> xs, ys;
    append_children(*x, xs);
    append_children(*y, ys);
    for (size_t i = 0; i < xs.size(); ++i) todo.emplace_back(xs[i], ys[i]);
  }
  return true;
}

}  // namespace tilewright::ir
