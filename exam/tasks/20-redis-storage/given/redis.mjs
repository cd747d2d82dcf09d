/**
 * Stands for Redis: `createServer()` is a server in memory, `connect(server)` a client of it with the names that `ioredis` has. Strings and values are texts of any length with
 * any characters. Commands of one connection are executed in the order of the calls, each as a whole; those of several connections mix.
 *
 * - texts: `get(key)` (null: none), `set(key, text)`, `del(...keys)` and `exists(...keys)` (how many there were)
 * - lists: `rpush(key, ...texts)`, `lrange(key, from, to)` (`to` is included; -1 is the last one), `llen(key)`
 * - sorted sets, all members with the score 0, in the order of their characters: `zadd(key, 0, member)`, `zrem(key, member)`,
 *   `zrangebylex(key, min, max, "LIMIT", offset, count)`, where min and max are `[member`, `(member` (without it), `-` or `+`
 * - `watch(...keys)`, `unwatch()`, and `multi()`: the commands that are called on its result are executed by `exec()` as one step. It resolves with null, and nothing
 *   was executed, if a key that this connection has watched was changed since. `exec` ends the watching, as `unwatch` does
 * - `quit()`: after it every command rejects
 *
 * If a command rejects with `ECONNRESET`, nobody knows whether it was executed; the client goes on by itself. `server.loseNext("request")` and `server.loseNext("reply")` let that happen to the next
 * `exec`: before it is executed, or behind it.
 */
export function createServer() {
  const server = {
    data: new Map(),
    /** How often each key was changed. */
    changes: new Map(),
    lost: undefined,
    loseNext(what) {
      server.lost = what
    },
  }
  return server
}

export function connect(server) {
  const commands = commandsOn(server)
  let [open, watched, last] = [true, new Map(), Promise.resolve()]

  /** Executes after all calls before, and answers later, as over a network. */
  function call(work) {
    const answer = last.then(async () => {
      if (!open) throw new Error("Connection is closed.")
      await new Promise((resolve) => setImmediate(resolve))
      return work()
    })
    last = answer.then(
      () => undefined,
      () => undefined,
    )
    return answer
  }

  const client = {
    watch: (...keys) =>
      call(() => {
        for (const key of keys) if (!watched.has(key)) watched.set(key, server.changes.get(key) ?? 0)
        return "OK"
      }),
    unwatch: () =>
      call(() => {
        watched = new Map()
        return "OK"
      }),
    multi() {
      const queued = []
      const chain = {
        exec: () =>
          call(() => {
            const isChanged = [...watched].some(([key, count]) => (server.changes.get(key) ?? 0) !== count)
            watched = new Map()
            if (server.lost === "request") throw reset(server)
            const results = isChanged ? null : queued.map((execute) => [null, execute()])
            if (server.lost === "reply") throw reset(server)
            return results
          }),
      }
      for (const [name, execute] of Object.entries(commands)) {
        chain[name] = (...args) => {
          queued.push(() => execute(...args))
          return chain
        }
      }
      return chain
    },
    async quit() {
      await last
      open = false
      return "OK"
    },
  }
  for (const [name, execute] of Object.entries(commands)) client[name] = (...args) => call(() => execute(...args))
  return client
}

function reset(server) {
  server.lost = undefined
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })
}

function commandsOn({ data, changes }) {
  const changed = (key) => changes.set(key, (changes.get(key) ?? 0) + 1)
  function valueOf(key, kind, empty) {
    const value = data.get(key)
    if (value !== undefined && value.kind !== kind)
      throw new Error("WRONGTYPE Operation against a key holding the wrong kind of value")
    return value?.value ?? empty
  }
  function put(key, kind, value, isEmpty = false) {
    if (isEmpty) data.delete(key)
    else data.set(key, { kind, value })
    changed(key)
  }
  return {
    get: (key) => valueOf(key, "text", null),
    set(key, text) {
      if (typeof text !== "string") throw new TypeError("SET takes a text")
      put(key, "text", text)
      return "OK"
    },
    del(...keys) {
      const found = keys.filter((key) => data.delete(key))
      for (const key of found) changed(key)
      return found.length
    },
    exists: (...keys) => keys.filter((key) => data.has(key)).length,
    rpush(key, ...texts) {
      const list = valueOf(key, "list", [])
      for (const text of texts) {
        if (typeof text !== "string") throw new TypeError("RPUSH takes texts")
        list.push(text)
      }
      put(key, "list", list, list.length === 0)
      return list.length
    },
    lrange(key, from, to) {
      const list = valueOf(key, "list", [])
      const at = (index) => (index < 0 ? Math.max(list.length + index, 0) : index)
      return to < 0 && list.length + to < 0 ? [] : list.slice(at(from), at(to) + 1)
    },
    llen: (key) => valueOf(key, "list", []).length,
    zadd(key, score, member) {
      if (Number(score) !== 0) throw new Error("This server has only the score 0")
      const members = valueOf(key, "set", new Set())
      const added = members.has(member) ? 0 : 1
      members.add(member)
      put(key, "set", members)
      return added
    },
    zrem(key, member) {
      const members = valueOf(key, "set", new Set())
      const removed = members.delete(member) ? 1 : 0
      if (removed > 0) put(key, "set", members, members.size === 0)
      return removed
    },
    zrangebylex(key, min, max, limit, offset = 0, count = Infinity) {
      const isAbove = (member) => min === "-" || (min[0] === "(" ? member > min.slice(1) : member >= min.slice(1))
      const isBelow = (member) => max === "+" || (max[0] === "(" ? member < max.slice(1) : member <= max.slice(1))
      const found = [...valueOf(key, "set", new Set())].filter((member) => isAbove(member) && isBelow(member)).sort()
      return limit === undefined ? found : found.slice(offset, offset + count)
    },
  }
}
