#include "kernels.h"

namespace tilewright::simt {

std::string without_barrier(std::string text, int which) {
  size_t comment = text.find("();  // " + std::to_string(which));
  size_t start = text.rfind('\n', comment) + 1;
  return text.erase(start, text.find('\n', comment) - start);
}

Batch& Batch::instance() {
  static Batch batch;
  return batch;
}

bool Batch::add(const char* key, const char* name, const std::string& text) {
  instance().keys_.push_back(key);
  instance().texts_.push_back({name, text});
  return true;
}

const Kernel& Batch::operator[](const std::string& key) {
  if (kernels_.empty()) {
    std::vector<Kernel> all = compile_batch(texts_);
    for (size_t i = 0; i < all.size(); ++i) kernels_[keys_[i]] = all[i];
  }
  return kernels_.at(key);
}

}  // namespace tilewright::simt
