-- The arguments of a batch, and the text of a shape in it: what asks of one caller in one lane have in common.
--
-- ARGV: 1 time or '', 2 gateway, 3 '' or 'full' (do not try the common case), then how many: 4 organizations, 5 settlements, 6 voids,
--   7 shapes, 8 asks; then
--   organization: id
--   settlement: operation, tokens or '' when nothing was sent, spend, record; tokens and spend of each attempt, where there were several
--   void: operation
--   shape: its text, see below
--   ask: operation, shape (from one), what read_ask in batch.lua reads, draft, costs of the first candidate
local ORGS_AT = 9
-- Arguments of a settlement, and of an ask before its costs.
local SETTLE_FIELDS, ASK_FIELDS = 4, 4

-- Lines: organization, queue, caller, waiters at most, class (0, 1, 2), mixed classes (1 or 0), version of the configuration, selection, lease,
-- number of windows, for each: key, metric, period; then for each candidate: endpoint, paced (1 or 0), name of its shape, number of costs,
-- number of charges, and for each: window (from one), limit, which of the costs (0: one). Returns the shape, and its windows.
local function read_shape(text)
  local fields, charged = {}, {}
  for field in string.gmatch(text, '([^\n]*)\n') do fields[#fields + 1] = field end
  local kind = { org = fields[1], queue = fields[2], caller = fields[3], selection = fields[8], candidates = {}, n_costs = {} }
  kind.waiters_max, kind.rank, kind.mixed = tonumber(fields[4]), tonumber(fields[5]), fields[6] == '1'
  kind.version, kind.lease_ms = tonumber(fields[7]), tonumber(fields[9])
  local at = 11 + 3 * fields[10]
  for field = 11, at - 1, 3 do
    local key, metric, period = fields[field], fields[field + 1], fields[field + 2]
    local id = string.sub(key, 1, -(#metric + #period + 3))
    charged[#charged + 1] = { key = key, id = id, metric = metric, period = period }
  end
  while fields[at] do
    local candidate = { endpoint = fields[at], paced = fields[at + 1] == '1', shape = fields[at + 2], charges = {} }
    local last = at + 4 + 3 * fields[at + 4]
    kind.candidates[#kind.candidates + 1], kind.n_costs[#kind.n_costs + 1] = candidate, tonumber(fields[at + 3])
    for field = at + 5, last, 3 do
      local charge = { limit = tonumber(fields[field + 1]), column = tonumber(fields[field + 2]) }
      for name, value in pairs(charged[tonumber(fields[field])]) do charge[name] = value end
      candidate.charges[#candidate.charges + 1] = charge
    end
    at = last + 1
  end
  return kind, charged
end
