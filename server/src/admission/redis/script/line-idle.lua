-- The common case of step.lua: another gateway's step has done it, or the alarm rang early. It comes before the rules, because defining
-- them costs more than this, and it writes nothing. Returns what scripts.ts adds to every reply, too.
do
  read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
  local base, at = PREFIX .. ARGV[3] .. ':', NEVER_MS
  local found = call('HMGET', base .. 'line', 'n', 'touched')
  if not found[1] then return { SEQUENCE, { NOW - SHIFT, {}, -1, 0 } } end
  for _, part in ipairs({ 'due', 'late', 'wake' }) do
    local first = call('ZRANGE', base .. part, 0, 0, 'WITHSCORES')
    if first[2] and tonumber(first[2]) < at then at = tonumber(first[2]) end
  end
  if found[2] == '' and at > NOW then return { SEQUENCE, { NOW - SHIFT, {}, at - NOW, 0 } } end
end
