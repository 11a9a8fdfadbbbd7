// What gateway/api/playground/page/re2.js calls: RE2's expressions and sets over a text in this module's memory.
#include <vector>
#include "re2/re2.h"
#include "re2/set.h"

using re2::RE2;
#define EXPORT extern "C" __attribute__((visibility("default")))

static std::vector<int> results;

EXPORT void* reserve(int size) { return malloc(size); }
EXPORT void release(void* at) { free(at); }

static RE2::Options options(int flags, int max_mem) {
  RE2::Options o;
  o.set_log_errors(false);
  o.set_max_mem(max_mem);
  if (flags & 1) o.set_encoding(RE2::Options::EncodingLatin1);
  o.set_longest_match(flags & 2);
  o.set_case_sensitive(!(flags & 4));
  o.set_literal(flags & 8);
  o.set_never_nl(flags & 16);
  o.set_dot_nl(flags & 32);
  o.set_never_capture(flags & 64);
  o.set_posix_syntax(flags & 128);
  o.set_perl_classes(flags & 256);
  o.set_word_boundary(flags & 512);
  o.set_one_line(flags & 1024);
  return o;
}

EXPORT RE2* compile(const char* pattern, int size, int flags, int max_mem) {
  return new RE2(absl::string_view(pattern, size), options(flags, max_mem));
}
EXPORT void discard(RE2* expression) { delete expression; }
EXPORT const char* error(const RE2* expression) { return expression->ok() ? nullptr : expression->error().c_str(); }
EXPORT int groups(const RE2* expression) { return expression->NumberOfCapturingGroups(); }
EXPORT int program_size(const RE2* expression) { return expression->ProgramSize(); }

// Returns where the spans are, or null. A group that did not participate is -1, -1.
EXPORT const int* match(const RE2* expression, int anchor, const char* text, int size, int from, int to) {
  static std::vector<absl::string_view> found;
  found.assign(expression->NumberOfCapturingGroups() + 1, absl::string_view());
  if (!expression->Match(absl::string_view(text, size), from, to, RE2::Anchor(anchor), found.data(), found.size()))
    return nullptr;
  results.clear();
  for (const auto& one : found) {
    results.push_back(one.data() ? one.data() - text : -1);
    results.push_back(one.data() ? one.data() - text + one.size() : -1);
  }
  return results.data();
}

EXPORT RE2::Set* make_set(int anchor, int flags, int max_mem) {
  return new RE2::Set(options(flags, max_mem), RE2::Anchor(anchor));
}
EXPORT int add(RE2::Set* set, const char* pattern, int size) { return set->Add(absl::string_view(pattern, size), nullptr); }
EXPORT int compile_set(RE2::Set* set) { return set->Compile(); }

// Returns where the count and the indices are.
EXPORT const int* match_set(const RE2::Set* set, const char* text, int size) {
  std::vector<int> hits;
  set->Match(absl::string_view(text, size), &hits);
  results.assign(1, hits.size());
  results.insert(results.end(), hits.begin(), hits.end());
  return results.data();
}
