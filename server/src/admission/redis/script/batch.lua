-- A batch in full: settlements, voids and asks one after another, as if each came alone.
-- Arguments as in batch-fast.lua. Returns 'full', the time, the sequence, for each settlement 1 or 0, the answers, the releases for this gateway, and for
-- each organization when its line has something to do, -1 when no request waits.
local gateway = ARGV[2]
local n_org, n_settle, n_void = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local n_shape, n_admit = tonumber(ARGV[7]), tonumber(ARGV[8])
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))

local wrote = n_settle > 0
local position = ORGS_AT + n_org

-- Tokens are '' when nothing was sent.
local function used_of(tokens, spent)
  return tokens ~= '' and { requests = 1, tokens = tonumber(tokens), spend = tonumber(spent) }
end

local function split(text)
  local parts = {}
  for part in string.gmatch(text .. ' ', '(.-) ') do parts[#parts + 1] = part end
  return parts
end

-- What the attempt used that a lease is for; false when that was never sent. A lease that does not know is for the last one: a late one, and
-- one that a gateway of the version before let go after a failed attempt.
local function used_by(lease, tokens, spent)
  local tokens_of, spent_of = split(tokens), split(spent)
  local is_known = lease.attempt or lease.state ~= 'late' and not lease.tried
  local attempt = is_known and (lease.attempt or 0) + 1 or #tokens_of
  return used_of(tokens_of[attempt] or '', spent_of[attempt])
end

-- Gives back what a lease holds, whatever its state.
local function end_lease(lease, used, settled)
  wrote = true
  if lease.state == 'dispatched' or lease.state == 'late' then give_back(lease, used, settled, touch)
  elseif lease.state == 'waiting' then leave(lease.org, lease.op) end
end

if n_settle > 0 then keep_clock() end
local settled, entry = {}, { PREFIX .. 'usage', '*' }
for index = 1, n_settle do
  local lease = lease_of(ARGV[position])
  entry[#entry + 1] = 'r'
  entry[#entry + 1] = ARGV[position + 3]
  if lease then
    end_lease(lease, used_by(lease, ARGV[position + 1], ARGV[position + 2]), true)
    forget(lease.op)
    if lease.org then step(lease.org) end
  end
  settled[index] = lease and 1 or 0
  position = position + SETTLE_FIELDS
end
if n_settle > 0 then call('XADD', unpack(entry)) end
for _ = 1, n_void do
  local lease = lease_of(ARGV[position])
  if lease then
    end_lease(lease, false, false)
    forget_waiting(lease.op)
    if lease.org then step(lease.org) end
  end
  position = position + 1
end

local kinds = {}
for index = 1, n_shape do
  local kind, charged = read_shape(ARGV[position])
  open_windows(kind.org, charged)
  kinds[index] = kind
  position = position + 1
end

local function unknown_of(ask)
  local answer, seen = { 'rebuild' }, {}
  for _, candidate in ipairs(ask.candidates) do
    for _, charge in ipairs(candidate.charges) do
      local period = charge.period
      if not seen[charge.key] and (SHORT_UNKNOWN or not SPAN[period]) and period ~= 'none' then
        seen[charge.key] = true
        if not window_for(ask.org, charge.id, charge.metric, period).known then answer[#answer + 1] = charge.id end
      end
    end
  end
  return answer
end

-- The third argument: wait budget, then the costs of the later candidates; before these '-', how many attempts were sent before, and what
-- the failed one used ('.': none has failed since the last ask), if one was sent.
local function read_ask()
  local kind, more = kinds[tonumber(ARGV[position + 1])], {}
  for word in string.gmatch(ARGV[position + 2], '%S+') do more[#more + 1] = word end
  local ask, word = { op = ARGV[position], draft = ARGV[position + 3], gateway = gateway, costs = {} }, 1
  for name, value in pairs(kind) do ask[name] = value end
  if more[1] == '-' then
    local dispatched = more[3] == '1'
    ask.attempt = more[2] ~= '0' and tonumber(more[2]) or nil
    if more[3] ~= '.' then ask.release = { dispatched = dispatched, used = used_of(dispatched and more[4] or '', more[5]) } end
    word = 6
  end
  ask.wait_max = tonumber(more[word])
  position = position + ASK_FIELDS
  for number, count in ipairs(kind.n_costs) do
    local costs = {}
    for index = 1, count do
      if number == 1 then
        costs[index], position = tonumber(ARGV[position]), position + 1
      else
        word = word + 1
        costs[index] = tonumber(more[word])
      end
    end
    ask.costs[number] = costs
  end
  return ask
end

local function admitted(ask, candidate, at)
  return add_windows({ 'admitted', candidate, NOW - at }, ask.org, ask.candidates[candidate + 1].charges)
end

local function admit(ask)
  local held = lease_of(ask.op)
  if held and held.state == 'dispatched' and not ask.release then return admitted(ask, held.candidate, held.at) end
  if held and held.state == 'waiting' then
    wrote = true
    local again = ask_again(ask.org, ask.op) or released_answers[ask.op]
    -- One that the line has lost asks as if for the first time.
    if again then return again end
  end
  local unknown = unknown_of(ask)
  if #unknown > 1 then return unknown end
  if held then
    ask.sequence, ask.tried = held.sequence, held.tried
    if held.state == 'dispatched' then
      -- This draft has what the attempt used, and it is for no candidate.
      if ask.release.dispatched then ask.tried = { ask.draft, -1 } end
      end_lease(held, ask.release.used, false)
    elseif held.state == 'late' then
      end_lease(held, ask.release and ask.release.used, false)
    end
    forget(ask.op)
  else
    ask.sequence = SEQUENCE + 1
  end
  local answer = ask_line(ask)
  if answer[1] ~= 'refused' then
    wrote, SEQUENCE = true, max(SEQUENCE, ask.sequence)
    return answer[1] == 'admitted' and admitted(ask, answer[2], NOW) or answer
  end
  if ask.tried then keep_tried({ op = ask.op, org = ask.org, sequence = ask.sequence }, ask.tried, NOW + ask.lease_ms) end
  return add_refusing(answer, ask.org)
end

local answers = {}
for index = 1, n_admit do answers[index] = admit(read_ask()) end

if wrote or #releases > 0 then keep_clock() end
write_all()
local nexts = {}
for index = 1, n_org do nexts[index] = next_in(ARGV[ORGS_AT + index - 1]) end
return { 'full', NOW - SHIFT, SEQUENCE, settled, answers, tell_releases(gateway), nexts }
