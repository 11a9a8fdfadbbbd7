-- Posts the bodies of a file, one JSON document a line, in turns. Every NONCE in a body becomes one of WORDS, drawn
-- anew, so that no text comes twice. Set by benchmarks/wrk.py: BODIES, TARGET, HEADERS, WORDS, SEED.
local bodies, words, at = {}, {}, 0

function init()
  math.randomseed(tonumber(os.getenv("SEED")))
  for line in io.lines(os.getenv("BODIES")) do
    local pieces, from = {}, 1
    for first, last in string.gmatch(line, "()NONCE()") do
      pieces[#pieces + 1] = string.sub(line, from, first - 1)
      from = last
    end
    pieces[#pieces + 1] = string.sub(line, from)
    bodies[#bodies + 1] = pieces
  end
  for word in string.gmatch(os.getenv("WORDS"), "%a+") do
    words[#words + 1] = word
  end
  for name, value in string.gmatch(os.getenv("HEADERS"), "([^:\n]+): ([^\n]+)") do
    wrk.headers[name] = value
  end
end

function request()
  at = at % #bodies + 1
  local filled = {}
  for place, piece in ipairs(bodies[at]) do
    filled[2 * place - 1] = piece
    filled[2 * place] = place < #bodies[at] and words[math.random(#words)] or ""
  end
  return wrk.format("POST", os.getenv("TARGET"), nil, table.concat(filled))
end

function done(summary, latency)
  local failed = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "microseconds": %d, "p50": %f, "p99": %f, "errors": %d}\n',
    summary.requests, summary.duration, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    failed.connect + failed.read + failed.write + failed.status + failed.timeout))
end
