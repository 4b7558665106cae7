#include "ir/verify.h"

#include "base/check.h"
#include "ir/rules.h"
#include "ir/walk.h"

namespace tilewright::ir {

void verify(const Ref<Kernel>& kernel) {
  post_order(kernel, [](const Node& node) {
    if (std::string rule = broken_rule(node); !rule.empty()) throw InternalError(rule, {});
  });
}

}  // namespace tilewright::ir
