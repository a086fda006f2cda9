-- The common case of admit.lua in few steps: a new operation without charges, an empty queue, and a first candidate without
-- a cooldown. The result is that of admit.lua, which handles every other case. It comes before all other text, because
-- defining the functions of the rules costs more than this.
if ARGV[11] == '' and #ARGV == 14 + 3 * tonumber(ARGV[14]) then
  local prefix, org, op, call = KEYS[1], ARGV[2], ARGV[3], redis.call
  local lease = prefix .. 'lease:' .. op
  local found = call('MGET', prefix .. 'clock', lease, prefix .. org .. ':cooldown:' .. ARGV[15])
  local now = tonumber(ARGV[1])
  if not now then
    local time = call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  now = math.max(now, tonumber(found[1] or 0))
  local free = not found[2] and tonumber(found[3] or 0) <= now
  if free and call('EXISTS', prefix .. org .. ':queue:' .. ARGV[4]) == 0 then
    local expires = now + tonumber(ARGV[8])
    local packed = cmsgpack.pack({
      org = org,
      queue = ARGV[4],
      gateway = ARGV[9],
      draft = ARGV[10],
      arrived = now,
      state = 'dispatched',
      candidate = 0,
      slot = now,
      postings = {},
      holds = {},
      concurrency = {},
      fingerprint = '',
      expires = expires,
    })
    call('MSET', prefix .. 'clock', string.format('%.0f', now), lease, packed)
    call('ZADD', prefix .. 'expiry', expires, op)
    return { 'admitted', 0 }
  end
end
