#include "gyre/analyze/layer_record.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gyre/base/error.h"
#include "gyre/base/json_words.h"

namespace gyre::analyze {
namespace {

using Json = nlohmann::ordered_json;

// Infinite wavelengths and missing values are null; what null stands for depends on the field.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

double read_number(const Json& json, double null_value) {
  return json.is_null() ? null_value : json.get<double>();
}

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) {
    out.push_back(number(value));
  }
  return out;
}

std::vector<double> read_numbers(const Json& json, double null_value) {
  std::vector<double> out;
  for (const Json& each : json) {
    out.push_back(read_number(each, null_value));
  }
  return out;
}

Json matrix(const Matrix& rows) {
  Json out = Json::array();
  for (const std::vector<double>& row : rows) {
    out.push_back(numbers(row));
  }
  return out;
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Matrix read_matrix(const Json& json) {
  Matrix out;
  for (const Json& row : json) {
    out.push_back(read_numbers(row, kNaN));
  }
  return out;
}

Json heads_json(const std::vector<HeadRecord>& heads) {
  Json out = Json::array();
  for (const HeadRecord& head : heads) {
    out.push_back({{"score", head.score},
                   {"chance", head.chance},
                   {"logit", number(head.logit)},
                   {"bound", number(head.bound)},
                   {"product", number(head.product)}});
  }
  return out;
}

HeadRecord read_head(const Json& json) {
  HeadRecord head;
  head.score = json.at("score").get<std::array<double, kRoles>>();
  head.chance = json.at("chance").get<double>();
  head.logit = read_number(json.at("logit"), kNaN);
  head.bound = read_number(json.at("bound"), kNaN);
  head.product = read_number(json.at("product"), kNaN);
  return head;
}

Json patterns_json(const std::vector<Pattern>& patterns) {
  Json out = Json::array();
  for (const Pattern& pattern : patterns) {
    out.push_back({{"head", pattern.head},
                   {"role", pattern.role},
                   {"score", pattern.score},
                   {"n", pattern.n},
                   {"cells", pattern.cells}});
  }
  return out;
}

Pattern read_pattern(const Json& json) {
  return {json.at("head").get<int64_t>(), json.at("role").get<size_t>(),
          json.at("score").get<double>(), json.at("n").get<int64_t>(),
          json.at("cells").get<std::vector<uint8_t>>()};
}

LayerRecord read_record(const Json& json) {
  LayerRecord out;
  out.layer = json.at("layer").get<int64_t>();
  out.wavelength = read_numbers(json.at("wavelength"), std::numeric_limits<double>::infinity());
  out.q_rows = read_matrix(json.at("q_rows"));
  out.k_rows = read_matrix(json.at("k_rows"));
  out.v_rows = read_matrix(json.at("v_rows"));
  out.q_heads = read_matrix(json.at("q_heads"));
  out.k_heads = read_matrix(json.at("k_heads"));
  out.v_heads = read_matrix(json.at("v_heads"));
  const auto rest = read_numbers(json.at("rest"), kNaN);
  out.q_rest = rest.at(0);
  out.k_rest = rest.at(1);
  out.v_rest = rest.at(2);
  const Matrix re = read_matrix(json.at("content_re")), im = read_matrix(json.at("content_im"));
  for (size_t h = 0; h < re.size(); ++h) {
    auto& row = out.content.emplace_back();
    for (size_t m = 0; m < re[h].size(); ++m) {
      row.emplace_back(re[h][m], im.at(h).at(m));
    }
  }
  for (const Json& head : json.at("heads")) {
    out.heads.push_back(read_head(head));
  }
  for (const Json& pattern : json.at("patterns")) {
    out.patterns.push_back(read_pattern(pattern));
  }
  return out;
}

}  // namespace

std::string to_line(const LayerRecord& record) {
  Matrix re, im;
  for (const auto& head : record.content) {
    re.emplace_back();
    im.emplace_back();
    for (const std::complex<double>& value : head) {
      re.back().push_back(value.real());
      im.back().push_back(value.imag());
    }
  }
  const Json json = {{"layer", record.layer},
                     {"wavelength", numbers(record.wavelength)},
                     {"q_rows", matrix(record.q_rows)},
                     {"k_rows", matrix(record.k_rows)},
                     {"v_rows", matrix(record.v_rows)},
                     {"q_heads", matrix(record.q_heads)},
                     {"k_heads", matrix(record.k_heads)},
                     {"v_heads", matrix(record.v_heads)},
                     {"rest", numbers({record.q_rest, record.k_rest, record.v_rest})},
                     {"content_re", matrix(re)},
                     {"content_im", matrix(im)},
                     {"heads", heads_json(record.heads)},
                     {"patterns", patterns_json(record.patterns)}};
  return json.dump();
}

LayerRecord layer_from_line(std::string_view line, const std::string& owner) {
  try {
    return read_record(Json::parse(line));
  } catch (const std::out_of_range&) {
    throw Error(Code::Format, owner, ": not a line of gyre analyze: a list is too short",
                "; --force starts over");
  } catch (const Json::exception& fault) {
    throw Error(Code::Format, owner, ": not a line of gyre analyze: ", json_words(fault),
                "; --force starts over");
  }
}

}  // namespace gyre::analyze
