/** Consolidation: its gates, the lock, the four phases, and what the agent may do. */
import { createSessions, SessionError, type Sessions } from "@sessions/core"
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import {
  CONSOLIDATION_FILES,
  type ConsolidationOptions,
  type ConsolidationTools,
  createConsolidation,
  createDocumentMemory,
  type MemoryFiles,
  type PhaseRequest,
} from "../src/index.ts"
import { answerOf, assistant, call, codeOf, createWorld, fact, NOW, result, SCOPE, talk, user } from "./helpers.ts"

const { state: STATE, lock: LOCK } = CONSOLIDATION_FILES
const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface World {
  readonly storage: SessionStorage
  readonly sessions: Sessions
  readonly files: MemoryFiles
  readonly options: ConsolidationOptions
  now: number
}

/** Sessions with an answer each, by default 5. */
async function createScope(count = 5): Promise<World> {
  const storage = createMemoryStorage()
  const world = { now: NOW }
  const sessions = createSessions({ storage, now: () => world.now })
  for (let i = 0; i < count; i++) await addSession(sessions, `s${i}`)
  const store = createDocumentMemory(storage)
  const options = { sessions, files: store, scope: SCOPE, now: () => world.now, run: async () => undefined }
  world.now += 2 * HOUR
  return Object.assign(world, { storage, sessions, files: store.of(SCOPE), options })
}

async function addSession(sessions: Sessions, id: string, cwd = SCOPE): Promise<void> {
  const session = await sessions.create({ id, cwd })
  await session.append([user(`question in ${id}`), assistant("answer")])
  await session.close()
}

/** An agent that works in one phase alone. */
function inPhase(phase: string, work: (tools: ConsolidationTools, request: PhaseRequest) => Promise<void>) {
  return async (request: PhaseRequest): Promise<void> => {
    if (request.phase === phase) await work(request.tools, request)
  }
}

async function setState(files: MemoryFiles, ms: number): Promise<void> {
  await files.write(STATE, JSON.stringify({ last_consolidated_at: ms / 1_000 }), { expect: null })
}

test("23 h 59 after the last consolidation it is too soon, after 24 h it is due", async () => {
  const w = await createScope()
  const { files } = w
  await setState(files, NOW - HOUR)
  const consolidation = createConsolidation(w.options)
  w.now = NOW + 23 * HOUR - MINUTE
  expect(await consolidation.shouldConsolidate()).toBe(false)
  expect(await consolidation.consolidate()).toMatchObject({ skipped: "too_soon" })
  w.now += MINUTE
  expect(await consolidation.shouldConsolidate()).toBe(true)
})

test("4 new sessions are too few, 5 are enough; only those with messages since last time count", async () => {
  const w = await createScope(4)
  await w.sessions.create({ id: "empty", cwd: SCOPE })
  const consolidation = createConsolidation(w.options)
  expect(await consolidation.consolidate()).toMatchObject({ skipped: "few_sessions" })
  await addSession(w.sessions, "elsewhere", "/other")
  expect(await consolidation.shouldConsolidate()).toBe(false)
  await addSession(w.sessions, "fifth")
  w.now += 2 * HOUR
  expect(await consolidation.shouldConsolidate()).toBe(true)
  expect(await consolidation.shouldConsolidate({ current: "fifth" })).toBe(false)
  await setState(w.files, NOW + HOUR)
  w.now += 48 * HOUR
  expect(await consolidation.shouldConsolidate()).toBe(false)
})

test("a session that is deleted after it was listed does not count", async () => {
  const w = await createScope(6)
  w.now = NOW + MINUTE
  const list: Sessions["list"] = async (o) => {
    const page = await w.sessions.list(o)
    if (page.sessions.some(({ id }) => id === "s5")) await w.sessions.delete("s5")
    return page
  }
  const consolidation = createConsolidation({ ...w.options, sessions: { ...w.sessions, list } })
  expect(await consolidation.consolidate()).toMatchObject({ sessions: 5 })
})

test("a session in a turn does not count, until its last message is an hour old", async () => {
  const w = await createScope(4)
  const session = await w.sessions.create({ cwd: SCOPE })
  await session.append([user("go on"), call("a")])
  const consolidation = createConsolidation(w.options)
  expect(await consolidation.shouldConsolidate()).toBe(false)
  await session.append(result("a"))
  expect(await consolidation.shouldConsolidate()).toBe(false)
  await session.append(assistant("done"))
  expect(await consolidation.shouldConsolidate()).toBe(true)
  await session.append(user("more"))
  expect(await consolidation.shouldConsolidate()).toBe(false)
  w.now += HOUR
  expect(await consolidation.shouldConsolidate()).toBe(true)
})

test("a session that cannot be read keeps no other from its review", async () => {
  const w = await createScope()
  await addSession(w.sessions, "newer")
  const open: Sessions["open"] = async (id, o) => {
    if (id === "newer") throw new SessionError("newer_version", "Its log is of a newer version.")
    return w.sessions.open(id, o)
  }
  const texts: unknown[] = []
  const run = inPhase("gather", async (tools) => {
    for (const { id } of await tools.listSessions()) texts.push(await tools.readSession(id).catch(codeOf))
  })
  w.now = NOW + MINUTE
  const consolidation = createConsolidation({ ...w.options, sessions: { ...w.sessions, open }, run })
  expect(await consolidation.consolidate()).toMatchObject({ sessions: 6 })
  expect(texts.filter((one) => typeof one === "string")).toEqual(["newer_version"])
})

test("a session that was in use is shown next time, also without a new message; then it is forgotten", async () => {
  const w = await createScope()
  await addSession(w.sessions, "current")
  const cut = await w.sessions.create({ id: "cut", cwd: SCOPE })
  await cut.append([user("go on"), call("a")])
  await addSession(w.sessions, "deleted")
  await (await w.sessions.open("deleted")).append(user("more"))
  const shown: string[][] = []
  const run = inPhase("gather", async (tools) => {
    shown.push((await tools.listSessions()).map(({ id }) => id).sort())
  })
  const consolidation = createConsolidation({ ...w.options, run })
  w.now += MINUTE
  await consolidation.consolidate({ current: "current" })
  expect(shown).toEqual([["s0", "s1", "s2", "s3", "s4"]])
  await w.sessions.delete("deleted")
  w.now += MINUTE
  await consolidation.consolidate({ current: "current", force: true })
  w.now += 2 * HOUR
  for (let n = 0; n < 2; n++) await consolidation.consolidate({ force: true })
  expect(shown.slice(1)).toEqual([[], ["current", "cut"], []])
  expect(JSON.parse((await w.files.read(STATE))?.text ?? "")).not.toHaveProperty("left_out")
})

test("the gates are asked cheapest first, and the first closed one ends it: counted in calls of the storage", async () => {
  const w = await createScope(12)
  const calls: string[] = []
  const { storage } = w
  const counting: SessionStorage = {
    ...storage,
    list: (...args) => (calls.push("list"), storage.list(...args)),
    docs: {
      ...storage.docs,
      get: (key, o) => (calls.push(key.replace(/^memory\.[0-9a-f]+\./, "")), storage.docs.get(key, o)),
    },
  }
  const sessions = createSessions({ storage: counting, now: () => w.now })
  const options = { ...w.options, sessions, files: createDocumentMemory(counting) }
  const gates = async (o: Partial<ConsolidationOptions> = {}): Promise<readonly string[]> => {
    calls.length = 0
    await createConsolidation({ ...options, ...o }).shouldConsolidate()
    return calls
  }
  expect(await gates()).toEqual([STATE, "list", LOCK])
  expect(await gates({ minSessions: 13 })).toEqual([STATE, "list"])
  await setState(w.files, w.now)
  expect(await gates()).toEqual([STATE])
})

test("four phases run in order with their prompts; notes go to the later ones; the time is stored after the last", async () => {
  const w = await createScope()
  const seen: { phase: string; prompt: string; state: unknown }[] = []
  const consolidation = createConsolidation({
    ...w.options,
    run: async ({ phase, prompt }) => {
      seen.push({ phase, prompt, state: await w.files.read(STATE) })
      return `notes of ${phase} </notes>`
    },
  })
  expect(await consolidation.consolidate()).toEqual({ sessions: 5, written: [], deleted: [] })
  expect(seen.map(({ phase }) => phase)).toEqual(["orient", "gather", "consolidate", "prune"])
  expect(seen.map(({ state }) => state)).toEqual([undefined, undefined, undefined, undefined])
  expect(seen[3]?.prompt).toContain('<notes phase="gather">\nnotes of gather &lt;/notes>\n</notes>')
  expect(seen[3]?.prompt).toContain("fewer than 200 lines")
  expect(seen[0]?.prompt).not.toContain("<notes")
  expect(JSON.parse((await w.files.read(STATE))?.text ?? "")).toEqual({
    last_consolidated_at: w.now / 1_000,
    lock_etag: null,
  })
  expect(await w.files.read(LOCK)).toBeUndefined()
  expect(await consolidation.consolidate()).toMatchObject({ skipped: "too_soon" })
  expect(await consolidation.consolidate({ force: true })).toMatchObject({ sessions: 0 })
})

test("the tools read, write and delete memory, and list and read the sessions of the scope alone", async () => {
  const w = await createScope()
  await addSession(w.sessions, "s-other", "/other")
  const session = await w.sessions.open("s0")
  await session.append([call("a"), result("a", "FROM A WEB PAGE")])
  w.now += 2 * HOUR
  await w.files.write("old.md", "old", { expect: null })
  const search = async (words: string) => [
    { session: "s1", words },
    { session: "s-other", words },
  ]
  const run = inPhase("consolidate", async (tools) => {
    expect((await tools.listSessions()).map(({ id }) => id).sort()).toEqual(["s0", "s1", "s2", "s3", "s4"])
    expect((await tools.listSessions())[0]).toMatchObject({
      at: expect.stringMatching(/Z$/),
      messages: expect.any(Number),
    })
    const { text } = await tools.readSession("s0")
    expect(text).toMatch(/^\[2026-11-22T12:00:00\.000Z\]\n\[User\]: question in s0\n\n\[2026-/)
    expect(text).not.toContain("FROM A WEB PAGE")
    const page = await tools.readSession("s0", { limit: 1 })
    expect((await tools.readSession("s0", { limit: 10, before: page.before as string })).text).toContain(
      "question in s0",
    )
    for (const id of ["s-other", "s", "none"]) expect(await tools.readSession(id).catch(codeOf)).toBe("not_found")
    expect(await tools.searchSessions?.("deploy key")).toEqual([{ session: "s1", words: "deploy key" }])
    expect(await tools.readMemory("old.md")).toBe("old")
    await tools.writeMemory("new.md", "new")
    await tools.deleteMemory("old.md")
    for (const name of [STATE, LOCK, "../x.md"]) {
      for (const call of [tools.readMemory(name), tools.writeMemory(name, "x"), tools.deleteMemory(name)]) {
        expect(await call.catch(codeOf)).toBe("invalid")
      }
    }
    await tools.writeMemory("MEMORY.md", "[New](new.md)")
    expect(await tools.listMemory()).toEqual(["MEMORY.md", "new.md"])
  })
  expect(await createConsolidation({ ...w.options, run, search }).consolidate()).toEqual({
    sessions: 5,
    written: ["MEMORY.md", "new.md"],
    deleted: ["old.md"],
  })
})

test("without a search there is no tool for it", async () => {
  const w = await createScope()
  const run = inPhase("gather", async (tools) => expect(tools.searchSessions).toBeUndefined())
  await createConsolidation({ ...w.options, run }).consolidate()
})

test("what a person edits between the agent's read and its write is never overwritten", async () => {
  const w = await createScope()
  const version = await w.files.write("MEMORY.md", "one", { expect: null })
  const run = inPhase("consolidate", async (tools) => {
    expect(await tools.writeMemory("MEMORY.md", "unread").catch(codeOf)).toBe("conflict")
    expect(await tools.deleteMemory("MEMORY.md").catch(codeOf)).toBe("conflict")
    await tools.readMemory("MEMORY.md")
    await w.files.write("MEMORY.md", "by hand", { expect: version })
    expect(await tools.writeMemory("MEMORY.md", "stale").catch(codeOf)).toBe("conflict")
    expect(await tools.deleteMemory("MEMORY.md").catch(codeOf)).toBe("conflict")
    const text = await tools.readMemory("MEMORY.md")
    await tools.writeMemory("MEMORY.md", `${text}, merged`)
  })
  await createConsolidation({ ...w.options, run }).consolidate()
  expect((await w.files.read("MEMORY.md"))?.text).toBe("by hand, merged")
})

test("the result is checked, not believed: lines of MEMORY.md, links to missing files, a missing index", async () => {
  const wrong: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ "MEMORY.md": "x\n".repeat(200) }, /has 200 lines/],
    [{ "MEMORY.md": "- [A](a.md) and [B](./b.md#top)", "a.md": "x" }, /links to b\.md, which does not exist/],
    [{ "a.md": "x" }, /MEMORY\.md is missing/],
  ]
  for (const [texts, problem] of wrong) {
    const w = await createScope()
    let told = ""
    const run = async ({ phase, tools, prompt }: PhaseRequest): Promise<void> => {
      if (phase === "prune") told = prompt
      if (phase !== "consolidate") return
      for (const [name, text] of Object.entries(texts)) await tools.writeMemory(name, text)
    }
    await expect(createConsolidation({ ...w.options, run }).consolidate()).rejects.toMatchObject({
      code: "consolidation_failed",
      message: expect.stringMatching(problem),
    })
    expect(told).toMatch(problem)
    expect(await w.files.read(STATE)).toBeUndefined()
    expect(await w.files.read(LOCK)).toBeUndefined()
  }
  const w = await createScope()
  const fine = `${"x\n".repeat(198)}[A](docs/a.md) [B](https://b.md) [C](MEMORY.md)\n`
  const run = inPhase("prune", (tools) => tools.writeMemory("MEMORY.md", fine))
  expect((await createConsolidation({ ...w.options, run }).consolidate()).written).toEqual(["MEMORY.md"])
})

test("a consolidation that is rejected, fails or is aborted puts back every file, but not over what another writer wrote", async () => {
  const ends: readonly ((stop: AbortController) => unknown)[] = [
    () => undefined,
    () => Promise.reject(new Error("overloaded")),
    (stop) => (stop.abort(), new Promise(() => undefined)),
  ]
  for (const end of ends) {
    const w = await createScope()
    const before: Readonly<Record<string, string>> = {
      "MEMORY.md": "- [A](a.md)\n",
      "a.md": "kept",
      "b.md": "old",
      "c.md": "c",
    }
    for (const [name, text] of Object.entries(before)) await w.files.write(name, text, { expect: null })
    const stop = new AbortController()
    const run = inPhase("prune", async (tools) => {
      for (const name of Object.keys(before)) await tools.readMemory(name)
      await tools.writeMemory("MEMORY.md", "- [A](gone.md)\n")
      await tools.writeMemory("MEMORY.md", "- [B](gone.md)\n")
      await tools.deleteMemory("b.md")
      await tools.writeMemory("new.md", "new")
      await tools.writeMemory("c.md", "worse")
      const { version } = (await w.files.read("c.md")) as { version: string }
      await w.files.write("c.md", "a person's", { expect: version })
      await end(stop)
    })
    const consolidation = createConsolidation({ ...w.options, run })
    await expect(consolidation.consolidate({ signal: stop.signal })).rejects.toThrow(
      /c\.md could not be put back|aborted/,
    )
    const after: Record<string, string | undefined> = {}
    for (const name of await w.files.list()) after[name] = (await w.files.read(name))?.text
    expect(after).toEqual({ ...before, "c.md": "a person's" })
    expect(await w.files.read(STATE)).toBeUndefined()
  }
})

test("changes whose outcome is unknown are found out: the agent's, the putting back, the state's and the lock's", async () => {
  const before: Readonly<Record<string, string>> = { "MEMORY.md": "- [A](a.md)\n", "a.md": "kept", "b.md": "old" }
  for (const happens of [true, false]) {
    for (const fails of [true, false]) {
      const w = await createScope()
      for (const [name, text] of Object.entries(before)) await w.files.write(name, text, { expect: null })
      const run = inPhase("consolidate", async (tools) => {
        for (const name of Object.keys(before)) await tools.readMemory(name)
        await tools.writeMemory("MEMORY.md", "- [A](a.md): better\n")
        await tools.deleteMemory("b.md")
        if (fails) throw new Error("overloaded")
      })
      const files = { of: () => unsure(w.files, happens) }
      const consolidation = createConsolidation({ ...w.options, files, run })
      const message = "The agent failed: overloaded"
      if (fails) await expect(consolidation.consolidate()).rejects.toMatchObject({ message })
      else expect(await consolidation.consolidate()).toMatchObject({ written: ["MEMORY.md"], deleted: ["b.md"] })
      expect(await textsOf(w.files)).toEqual(fails ? before : { "MEMORY.md": "- [A](a.md): better\n", "a.md": "kept" })
      expect((await w.files.read(STATE)) === undefined).toBe(fails)
      expect(await w.files.read(LOCK)).toBeUndefined()
    }
  }
})

test("what an agent reads while its own write is under way is no other writer's change, and is put back", async () => {
  const w = await createScope()
  await w.files.write("MEMORY.md", "kept", { expect: null })
  const { begin, begun } = signalled()
  const slow: MemoryFiles = {
    ...w.files,
    async write(...given) {
      const version = await w.files.write(...given)
      if (given[0] === "MEMORY.md") begin()
      for (let n = 0; n < 100; n++) await w.files.list()
      return version
    },
  }
  const run = inPhase("consolidate", async (tools) => {
    await tools.readMemory("MEMORY.md")
    const writing = tools.writeMemory("MEMORY.md", "worse")
    await begun
    await Promise.all([writing, tools.readMemory("MEMORY.md")])
    throw new Error("overloaded")
  })
  const consolidation = createConsolidation({ ...w.options, files: { of: () => slow }, run })
  await expect(consolidation.consolidate({ force: true })).rejects.toThrow(/overloaded/)
  expect(await textsOf(w.files)).toEqual({ "MEMORY.md": "kept" })
})

test("a write that is under way when the caller aborts, or when a phase ends, is put back, or counted", async () => {
  for (const isAborted of [true, false]) {
    const w = await createScope()
    await w.files.write("MEMORY.md", "kept", { expect: null })
    const stop = new AbortController()
    let writing: Promise<void> | undefined
    const { begin, begun } = signalled()
    const late: MemoryFiles = {
      ...w.files,
      async write(name, text, o) {
        if (name === "MEMORY.md" && text !== "kept") {
          if (isAborted) stop.abort()
          begin()
          // As long as a phase needs to end.
          for (let n = 0; n < 100; n++) await w.files.list()
        }
        return w.files.write(name, text, { expect: o.expect })
      },
    }
    const run = inPhase("prune", async (tools) => {
      await tools.readMemory("MEMORY.md")
      writing = tools.writeMemory("MEMORY.md", "links to [a](gone.md)")
      await begun
    })
    const done = createConsolidation({ ...w.options, files: { of: () => late }, run }).consolidate({
      signal: stop.signal,
    })
    expect(await done.catch(codeOf)).toBe(isAborted ? "aborted" : "consolidation_failed")
    await writing
    expect(await textsOf(w.files)).toEqual({ "MEMORY.md": "kept" })
  }
})

/** A promise, and what fulfils it. */
function signalled(): { readonly begin: () => void; readonly begun: Promise<void> } {
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  return { begin: () => begin(), begun }
}

async function textsOf(files: MemoryFiles): Promise<Record<string, string | undefined>> {
  const texts: Record<string, string | undefined> = {}
  for (const name of await files.list()) texts[name] = (await files.read(name))?.text
  return texts
}

/** Each second change has no answer. */
function unsure(files: MemoryFiles, happens: boolean): MemoryFiles {
  let changes = 0
  const tell = async <T>(change: () => Promise<T>): Promise<T> => {
    if (++changes % 2 === 0) return change()
    if (happens) await change()
    throw new StorageError("indeterminate", "no answer")
  }
  return {
    ...files,
    write: (...given) => tell(() => files.write(...given)),
    delete: (...given) => tell(() => files.delete(...given)),
  }
}

test("an agent that deletes or empties everything is rejected; of a memory that was empty nothing is asked", async () => {
  const empty = async ({ listMemory, readMemory, writeMemory, deleteMemory }: ConsolidationTools): Promise<void> => {
    for (const name of await listMemory()) {
      await readMemory(name)
      if (name === "MEMORY.md") await writeMemory(name, " \n")
      else await deleteMemory(name)
    }
  }
  const remove = async ({ listMemory, readMemory, deleteMemory }: ConsolidationTools): Promise<void> => {
    for (const name of await listMemory()) {
      await readMemory(name)
      await deleteMemory(name)
    }
  }
  for (const work of [empty, remove]) {
    const w = await createScope()
    await createConsolidation({ ...w.options, run: inPhase("prune", work) }).consolidate({ force: true })
    await w.files.write("MEMORY.md", "- [A](a.md)\n", { expect: null })
    await w.files.write("a.md", "kept", { expect: null })
    const again = createConsolidation({ ...w.options, run: inPhase("prune", work) })
    await expect(again.consolidate({ force: true })).rejects.toThrow(/remembered is gone/)
    expect((await w.files.read("MEMORY.md"))?.text).toBe("- [A](a.md)\n")
    expect((await w.files.read("a.md"))?.text).toBe("kept")
  }
})

test("an agent that fails leaves the time unchanged and releases the lock", async () => {
  const w = await createScope()
  const consolidation = createConsolidation({ ...w.options, run: () => Promise.reject(new Error("overloaded")) })
  await expect(consolidation.consolidate()).rejects.toMatchObject({
    code: "consolidation_failed",
    message: /overloaded/,
  })
  expect(await w.files.read(STATE)).toBeUndefined()
  expect(await consolidation.shouldConsolidate()).toBe(true)
})

test("of 32 consolidations at once one runs, in one process and with 32 of them", async () => {
  for (const isShared of [true, false]) {
    const w = await createScope()
    let runs = 0
    const options = { ...w.options, run: inPhase("orient", async () => void runs++) }
    const one = createConsolidation(options)
    const results = await Promise.all(
      Array.from({ length: 32 }, () => (isShared ? one : createConsolidation(options)).consolidate()),
    )
    expect(runs).toBe(1)
    expect(results.filter(({ skipped }) => skipped === undefined)).toHaveLength(1)
  }
})

test("a consolidation that another process finishes between the gates and the lock is not repeated", async () => {
  const w = await createScope()
  let runs = 0
  const options = { ...w.options, run: inPhase("orient", async () => void runs++) }
  let isFirst = true
  const late = {
    of: () => ({
      ...w.files,
      async read(...args: Parameters<MemoryFiles["read"]>) {
        if (args[0] === LOCK && isFirst) {
          isFirst = false
          await createConsolidation(options).consolidate()
        }
        return w.files.read(...args)
      },
    }),
  }
  expect(await createConsolidation({ ...options, files: late }).consolidate()).toMatchObject({ skipped: "too_soon" })
  expect(runs).toBe(1)
  expect(await w.files.read(LOCK)).toBeUndefined()
})

test("the lock of a crashed process is taken over after an hour, by one of 32", async () => {
  const w = await createScope()
  // Never released.
  const crashed = await createConsolidation(w.options).acquireLock()
  expect((await w.files.read(LOCK))?.text).toMatch(/^\d{10}\.\d{10}$/)
  const attempts = async (): Promise<number> => {
    const tried = Array.from({ length: 32 }, () => createConsolidation(w.options).consolidate())
    return (await Promise.all(tried)).filter(({ skipped }) => skipped === undefined).length
  }
  w.now += HOUR - 1_000
  expect(await createConsolidation(w.options).shouldConsolidate()).toBe(false)
  expect(await createConsolidation(w.options).consolidate()).toMatchObject({ skipped: "locked" })
  w.now += 1_000
  expect(await createConsolidation(w.options).shouldConsolidate()).toBe(true)
  expect(await attempts()).toBe(1)
  await expect(crashed?.check()).rejects.toMatchObject({ code: "lock_lost" })
})

test("releasing a lock that another process has taken over leaves the other's", async () => {
  const w = await createScope()
  const consolidation = createConsolidation(w.options)
  const first = await consolidation.acquireLock()
  w.now += HOUR
  const second = await consolidation.acquireLock()
  if (first === undefined || second === undefined) throw new Error("no lock")
  await consolidation.releaseLock(first)
  await second.check()
  await consolidation.releaseLock(second)
  expect(await w.files.read(LOCK)).toBeUndefined()
})

test("a lock file that is no time is stale, and so is one from the far future", async () => {
  for (const text of ["", "what", `${NOW / 1_000 + 100_000}`]) {
    const w = await createScope()
    await w.files.write(LOCK, text, { expect: null })
    expect(await createConsolidation(w.options).consolidate()).toMatchObject({ sessions: 5 })
  }
})

test("a lock that is lost in the middle stops all writes: of the tools, of the state, and of the release", async () => {
  const w = await createScope()
  await w.files.write("MEMORY.md", "before", { expect: null })
  let afterwards: Promise<unknown> = Promise.resolve()
  const run = inPhase("consolidate", async (tools, { signal }) => {
    await tools.readMemory("MEMORY.md")
    await tools.writeMemory("kept.md", "written with the lock")
    const lock = await w.files.read(LOCK)
    await w.files.write(LOCK, `${w.now / 1_000}`, { expect: lock?.version ?? null })
    expect(await tools.writeMemory("MEMORY.md", "late").catch(codeOf)).toBe("lock_lost")
    expect(signal.aborted).toBe(true)
    expect(await tools.deleteMemory("MEMORY.md").catch(codeOf)).toBe("lock_lost")
    afterwards = tools.writeMemory("later.md", "x").catch(codeOf)
  })
  await expect(createConsolidation({ ...w.options, run }).consolidate()).rejects.toMatchObject({ code: "lock_lost" })
  expect(await afterwards).toBe("lock_lost")
  expect((await w.files.read("MEMORY.md"))?.text).toBe("before")
  expect(await w.files.list()).toEqual(["MEMORY.md", "kept.md"])
  expect(await w.files.read(STATE)).toBeUndefined()
  expect((await w.files.read(LOCK))?.text).toBe(`${w.now / 1_000}`)
})

test("an agent that goes on after its phase, or after an abort, writes nothing", async () => {
  const w = await createScope()
  let kept: ConsolidationTools | undefined
  await createConsolidation({ ...w.options, run: inPhase("prune", async (tools) => void (kept = tools)) }).consolidate()
  expect(await kept?.writeMemory("late.md", "x").catch(codeOf)).toBe("lock_lost")
  const stop = new AbortController()
  const run = inPhase("orient", (tools) => {
    kept = tools
    stop.abort()
    return new Promise(() => undefined)
  })
  const aborted = createConsolidation({ ...w.options, run }).consolidate({ force: true, signal: stop.signal })
  expect(await aborted.catch(codeOf)).toBe("aborted")
  expect(await kept?.writeMemory("late.md", "x").catch(() => "refused")).toBe("refused")
  expect(await w.files.list()).toEqual([])
  expect(await w.files.read(LOCK)).toBeUndefined()
})

test("the holder refreshes the lock every 10 minutes, so that it does not become stale", async () => {
  vi.useFakeTimers({ now: NOW })
  try {
    const w = await createScope()
    const consolidation = createConsolidation({ ...w.options, now: Date.now })
    const lock = await consolidation.acquireLock()
    for (let minutes = 0; minutes < 180; minutes += 10) {
      await vi.advanceTimersByTimeAsync(10 * MINUTE)
      const seconds = Number.parseFloat((await w.files.read(LOCK))?.text ?? "")
      expect(Math.floor(seconds)).toBe(Date.now() / 1_000)
      await lock?.check()
    }
    if (lock !== undefined) await consolidation.releaseLock(lock)
    expect(vi.getTimerCount()).toBe(0)
    expect(await w.files.read(LOCK)).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})

test("a damaged state counts as none, and fields of other programs are kept", async () => {
  const w = await createScope()
  await w.files.write(STATE, "{", { expect: null })
  const consolidation = createConsolidation(w.options)
  expect(await consolidation.shouldConsolidate()).toBe(true)
  const file = await w.files.read(STATE)
  await w.files.write(STATE, '{"mine":1,"last_consolidated_at":"x"}', { expect: file?.version ?? null })
  await consolidation.consolidate()
  expect(JSON.parse((await w.files.read(STATE))?.text ?? "")).toMatchObject({ mine: 1, lock_etag: null })
})

test("a last consolidation in the far future, or at a time that is no date, counts as none", async () => {
  for (const seconds of [NOW / 1_000 + 3 * 86_400, NOW, 1e300, -1e300]) {
    const w = await createScope()
    await w.files.write(STATE, JSON.stringify({ last_consolidated_at: seconds }), { expect: null })
    expect(await createConsolidation(w.options).consolidate(), String(seconds)).toMatchObject({ sessions: 5 })
    expect(JSON.parse((await w.files.read(STATE))?.text ?? "")).toMatchObject({ last_consolidated_at: w.now / 1_000 })
  }
})

test("a last consolidation that another machine dates a little ahead counts", async () => {
  const w = await createScope()
  await setState(w.files, w.now + MINUTE)
  expect(await createConsolidation(w.options).consolidate()).toMatchObject({ skipped: "too_soon" })
})

test("the error of the agent is reported, also if the lock cannot be released", async () => {
  const w = await createScope()
  const down = new StorageError("unavailable", "down")
  const files = { of: (scope: string) => ({ ...w.options.files.of(scope), delete: () => Promise.reject(down) }) }
  const run = (): Promise<never> => Promise.reject(new Error("agent broke"))
  await expect(createConsolidation({ ...w.options, files, run }).consolidate()).rejects.toThrow(/agent broke/)
})

test("a consolidation that is done resolves, also if the lock cannot be released", async () => {
  const w = await createScope()
  const down = new StorageError("unavailable", "down")
  const files = { of: (scope: string) => ({ ...w.options.files.of(scope), delete: () => Promise.reject(down) }) }
  const consolidation = createConsolidation({ ...w.options, files })
  expect(await consolidation.consolidate()).toMatchObject({ sessions: 5 })
  expect(await consolidation.consolidate()).toMatchObject({ skipped: "too_soon" })
})

test("updateState needs the lock", async () => {
  const w = await createScope()
  const consolidation = createConsolidation(w.options)
  const lock = await consolidation.acquireLock()
  if (lock === undefined) throw new Error("no lock")
  expect(await consolidation.acquireLock()).toBeUndefined()
  await consolidation.updateState(lock)
  await consolidation.releaseLock(lock)
  expect(await consolidation.updateState(lock).catch(codeOf)).toBe("lock_lost")
})

test("one scope's consolidation neither sees nor delays that of another", async () => {
  const w = await createScope()
  await w.files.write("MEMORY.md", "of a", { expect: null })
  await createConsolidation(w.options).acquireLock()
  for (let i = 0; i < 5; i++) await addSession(w.sessions, `b${i}`, "/b")
  w.now += 2 * HOUR
  const run = inPhase("orient", async (tools) => {
    expect(await tools.listMemory()).toEqual([])
    expect((await tools.listSessions()).map(({ id }) => id).sort()).toEqual(["b0", "b1", "b2", "b3", "b4"])
  })
  expect(await createConsolidation({ ...w.options, scope: "/b", run }).consolidate()).toMatchObject({ sessions: 5 })
})

test("extraction during a consolidation loses no fact: the agent's stale write is refused", async () => {
  const w = await createScope()
  const { session, recall } = await createWorld({ files: w.options.files, answers: [answerOf(fact("new"))] })
  await talk(session, 20)
  const run = inPhase("consolidate", async (tools) => {
    await tools.writeMemory("MEMORY.md", "tidy\n")
    await recall.extract(session)
    expect(await tools.writeMemory("MEMORY.md", "tidier\n").catch(codeOf)).toBe("conflict")
  })
  await createConsolidation({ ...w.options, run }).consolidate()
  expect((await w.files.read("MEMORY.md"))?.text).toMatch(/^tidy\n[^]*- \[preference\] new/)
})

test("wrong options are `invalid` at once", async () => {
  const { options } = await createScope(0)
  for (const wrong of [
    { scope: "" },
    { hours: -1 },
    { minSessions: 0 },
    { lockStale: 0.5 },
    { files: {} },
    { sessions: {} },
    { agent: 1 },
  ]) {
    expect(() => createConsolidation({ ...options, ...wrong } as never), JSON.stringify(wrong)).toThrow(
      expect.objectContaining({ code: "invalid" }),
    )
  }
})
