-- Posts the bodies of a file, one JSON document a line, in turns. Every NONCE in a body becomes a word that no other
-- request has, so that no text comes twice. Set by benchmarks/wrk.py: BODIES, TARGET, HEADERS, SEED.
local bodies, at = {}, 0
local letters = "abcdefghijklmnopqrstuvwxyz"

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
  for name, value in string.gmatch(os.getenv("HEADERS"), "([^:\n]+): ([^\n]+)") do
    wrk.headers[name] = value
  end
end

function request()
  at = at % #bodies + 1
  local word = {}
  for place = 1, 10 do
    local letter = math.random(26)
    word[place] = string.sub(letters, letter, letter)
  end
  return wrk.format("POST", os.getenv("TARGET"), nil, table.concat(bodies[at], table.concat(word)))
end

function done(summary, latency)
  local failed = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "microseconds": %d, "p50": %f, "p99": %f, "errors": %d}\n',
    summary.requests, summary.duration, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    failed.connect + failed.read + failed.write + failed.status + failed.timeout))
end
