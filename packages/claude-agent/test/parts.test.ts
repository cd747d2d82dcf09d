/** Transcripts that outgrow a session: they go on in further ones, without a hole, a repeat, or a list that shows them twice. */
import { foldSessionSummary } from "@anthropic-ai/claude-agent-sdk"
import { createSessions } from "@sessions/core"
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createClaudeStore, type ClaudeStore, type SessionStoreEntry, transcriptText } from "@sessions/claude-agent"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { AGENT, MAIN, message, PROJECT, tag } from "./lines.ts"

/** A session takes this and the million bytes that core keeps free for annotations. */
const maxSessionBytes = 4_000
const LIMIT = maxSessionBytes + 1_000_000
const LINES = 80

/** Of 20 to 60 KB, so that 80 of them take four sessions. */
const long = Array.from({ length: LINES }, (_, n) => message(n + 1, "x".repeat(20_000 + ((n * 7_919) % 40_000))))

function open(storage: SessionStorage): ClaudeStore & { ids(): Promise<string[]>; bytes(): Promise<number> } {
  const sessions = createSessions({ storage, maxSessionBytes })
  const ids = async (): Promise<string[]> => {
    const listed = await sessions.list({ kind: "claude-agent" })
    return listed.sessions.map(({ id }) => id).sort()
  }
  /** Of the first session. */
  const bytes = async (): Promise<number> => (await storage.head((await ids())[0] ?? ""))?.bytes ?? 0
  return Object.assign(createClaudeStore({ sessions, foldSessionSummary }), { ids, bytes })
}

function inMemory(location: MemoryLocation): ReturnType<typeof open> {
  return open(createMemoryStorage({ location }))
}

test.each(["memory", "files"])("a transcript goes on in further sessions, and loads as one, on %s", async (where) => {
  const root = mkdtempSync(join(tmpdir(), "sessions-claude-parts-"))
  const location = createMemoryLocation()
  const another = () => (where === "files" ? open(createFileStorage({ root })) : inMemory(location))
  const store = another()
  for (let at = 0; at < LINES; at += 8) await store.append(MAIN, long.slice(at, at + 8))
  await store.append(MAIN, long)
  expect((await store.ids()).length).toBeGreaterThan(2)
  expect(same(await store.load(MAIN), long)).toBe(true)
  const reopened = another()
  await reopened.append(MAIN, long)
  await reopened.append(MAIN, [tag("end")])
  expect(same(await reopened.load(MAIN), [...long, tag("end")])).toBe(true)
  expect(same(await store.load(MAIN), [...long, tag("end")])).toBe(true)
  await store.close()
  await reopened.close()
  const sessions = createSessions({
    storage: where === "files" ? createFileStorage({ root }) : createMemoryStorage({ location }),
  })
  const [first = ""] = await reopened.ids()
  const session = await sessions.open(first)
  let text = ""
  for await (const piece of transcriptText(session, sessions)) text += piece
  expect(text === [...long, tag("end")].map((line) => `${JSON.stringify(line)}\n`).join("")).toBe(true)
  await sessions.close()
  rmSync(root, { recursive: true })
})

test("an append that is larger than a session is written in several", async () => {
  const location = createMemoryLocation()
  await inMemory(location).append(MAIN, long)
  expect(same(await inMemory(location).load(MAIN), long)).toBe(true)
})

test("lists show it once, with the summary of all lines and the newest time; its title is on each session", async () => {
  const location = createMemoryLocation()
  const store = inMemory(location)
  await store.append(MAIN, [{ type: "custom-title", customTitle: "A long talk", sessionId: MAIN.sessionId }])
  for (const line of long) await store.append(MAIN, [line])
  for (const line of long) await store.append(AGENT, [line])
  expect(await store.listSessions(PROJECT)).toHaveLength(1)
  expect(await store.listSubkeys(MAIN)).toEqual([AGENT.subpath])
  const [summary, ...more] = (await store.listSessionSummaries?.(PROJECT)) ?? []
  expect(more).toEqual([])
  const lines = (await store.load(MAIN)) ?? []
  expect(summary?.data).toEqual(foldSessionSummary(undefined, MAIN, lines).data)
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const listed = (await sessions.list({ kind: "claude-agent", metadata: { sessionId: MAIN.sessionId } })).sessions
  const titles = listed.filter(({ metadata }) => metadata["subpath"] === undefined).map(({ title }) => title)
  expect(new Set(titles)).toEqual(new Set(["A long talk"]))
})

test("delete takes all of its sessions, and what is appended afterwards is a new transcript", async () => {
  const location = createMemoryLocation()
  const store = inMemory(location)
  const other = inMemory(location)
  for (const key of [MAIN, AGENT]) await store.append(key, long)
  expect(same(await other.load(MAIN), long)).toBe(true)
  await store.delete(AGENT)
  expect(same(await store.load(MAIN), long)).toBe(true)
  await store.delete(MAIN)
  expect(await store.ids()).toEqual([])
  expect(await other.load(MAIN)).toBeNull()
  await other.append(MAIN, [message(1)])
  expect(await store.load(MAIN)).toEqual([message(1)])
})

test("a process that has an earlier session open learns of the further ones, and both keep their order", async () => {
  const location = createMemoryLocation()
  const [one, two] = [inMemory(location), inMemory(location)]
  const own = (name: string) => long.map((line) => ({ ...line, uuid: `${name}-${line.uuid}` }))
  await two.append(MAIN, [tag("small")])
  await one.append(MAIN, own("one"))
  await two.append(MAIN, [tag("late")])
  await two.append(MAIN, [message(500), tag("behind")])
  await one.append(MAIN, [message(500), tag("end")])
  const expected = await inMemory(location).load(MAIN)
  expect(expected?.filter(({ uuid }) => uuid?.startsWith("one")).length).toBe(LINES)
  expect(expected?.slice(-3)).toEqual([message(500), tag("behind"), tag("end")])
  const both = [one.append(MAIN, own("a")), two.append(MAIN, own("b")), one.append(MAIN, own("c"))]
  await Promise.all(both)
  const uuids = ((await inMemory(location).load(MAIN)) ?? []).flatMap(({ uuid }) => uuid ?? [])
  expect(new Set(uuids).size).toBe(uuids.length)
  for (const name of ["a", "b", "c"])
    expect(uuids.filter((uuid) => uuid.startsWith(`${name}-`))).toEqual(own(name).map(({ uuid }) => uuid))
})

test("a line that a process writes to an earlier session, as it knows of no further one, is there once, and with other content too", async () => {
  const location = createMemoryLocation()
  const [one, two] = [inMemory(location), inMemory(location)]
  await two.append(MAIN, [tag("small")])
  await one.append(MAIN, [...long, message(500), message(501, "one")])
  const late = [message(500), message(501, "two")]
  await two.append(MAIN, late)
  const lines = (await inMemory(location).load(MAIN)) ?? []
  expect(same(lines, [tag("small"), ...lines.filter(({ uuid }) => uuid !== undefined)])).toBe(true)
  expect(lines).toHaveLength(1 + LINES + 3)
  for (const line of [...late, message(501, "one")]) expect(lines).toContainEqual(line)
  await two.append(MAIN, [...long, message(500)])
  await inMemory(location).append(MAIN, [...long, message(501, "one")])
  expect(same((await one.load(MAIN)) ?? [], lines)).toBe(true)
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const session = await sessions.open((await one.ids())[0] ?? "")
  let text = ""
  for await (const piece of transcriptText(session, sessions)) text += piece
  expect(text === lines.map((line) => `${JSON.stringify(line)}\n`).join("")).toBe(true)
  await sessions.close()
})

test.each(["full", "with a reserve"])(
  "a process that goes on in a further session while another one deletes the transcript begins it anew: %s",
  async (how) => {
    const location = createMemoryLocation()
    const one = inMemory(location)
    const two = open(gated(createMemoryStorage({ location }), isPart, () => one.delete(MAIN)))
    const last = await fill(two, how)
    expect(await two.load(MAIN)).toEqual([last])
    expect(await inMemory(location).load(MAIN)).toEqual([last])
    expect(await one.ids()).toHaveLength(1)
    await two.append(MAIN, [tag("end")])
    expect(await one.load(MAIN)).toEqual([last, tag("end")])
  },
)

test("a further session that a crash leaves of a deleted transcript is no part of the next one, and delete removes it", async () => {
  const location = createMemoryLocation()
  const store = inMemory(location)
  await new Promise<void>((resolve, reject) => {
    const dies = (): Promise<never> => (resolve(), new Promise<never>(() => undefined))
    const dying = open(gated(createMemoryStorage({ location }), isPart, () => store.delete(MAIN), dies))
    void fill(dying, "with a reserve").then(() => reject(new Error("it did not die")), reject)
  })
  expect(await store.listSessions(PROJECT)).toEqual([])
  expect(await store.ids()).toHaveLength(1)
  expect(await store.load(MAIN)).toBeNull()
  const anew = long.map((line) => ({ ...line, uuid: `anew-${line.uuid}` }))
  await store.append(MAIN, anew)
  expect(same(await store.load(MAIN), anew)).toBe(true)
  expect(same(await inMemory(location).load(MAIN), anew)).toBe(true)
  expect((await store.listSessionSummaries?.(PROJECT))?.[0]?.data).toEqual(
    foldSessionSummary(undefined, MAIN, anew).data,
  )
  await store.delete(MAIN)
  expect(await store.ids()).toEqual([])
})

test("lines that are in a further session are acknowledged, also if the last one cannot be marked as ended", async () => {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  let isAway = false
  const append: SessionStorage["append"] = async (session, ...rest) => {
    if (isAway && !isPart(session)) throw new StorageError("unavailable", "injected")
    isAway ||= isPart(session)
    return storage.append(session, ...rest)
  }
  const store = open(
    new Proxy(storage, { get: (target, name) => (name === "append" ? append : Reflect.get(target, name)) }),
  )
  // Without a uuid, so that a repeat of a rejected call would be written twice.
  const lines: SessionStoreEntry[] = []
  while (!isAway) {
    lines.push(tag(`${lines.length}`.padEnd(50_000, "x")))
    await store.append(MAIN, lines.slice(-1))
  }
  expect(await inMemory(location).load(MAIN)).toEqual(lines)
  await inMemory(location).append(MAIN, [tag("end")])
  expect(await inMemory(location).load(MAIN)).toEqual([...lines, tag("end")])
})

/** Appends single lines until one does not fit; that one is returned. `full`: not even the mark that the session has ended. */
async function fill(store: ReturnType<typeof open>, how: string): Promise<SessionStoreEntry> {
  let before = 0
  for (const line of long) {
    await store.append(MAIN, [line])
    const size = await store.bytes()
    if (size < before) return line
    before = size
    if (how !== "full" || LIMIT - size > 130_000) continue
    await store.append(MAIN, [message(1_000, "x")])
    const overhead = (await store.bytes()) - size
    await store.append(MAIN, [message(1_002, "x".repeat(LIMIT - size - 2 * overhead - 50))])
    expect(LIMIT - (await store.bytes())).toBeLessThan(100)
    expect(await store.ids()).toHaveLength(1)
  }
  throw new Error("every line fits")
}

function isPart(session: string): boolean {
  return session.includes(".part")
}

/** Runs `before` and `after` around the append that creates the first session for which `isMeant` holds. */
function gated(
  storage: SessionStorage,
  isMeant: (session: string) => boolean,
  before: () => Promise<unknown>,
  after: () => Promise<unknown> = async () => undefined,
): SessionStorage {
  let isPast = false
  const append: SessionStorage["append"] = async (...args) => {
    if (isPast || !isMeant(args[0])) return storage.append(...args)
    isPast = true
    await before()
    const head = await storage.append(...args)
    await after()
    return head
  }
  return new Proxy(storage, { get: (target, name) => (name === "append" ? append : Reflect.get(target, name)) })
}

test.each(["lost before", "lost after"])("any failing write leaves no hole: %s", async (how) => {
  // Each write of the whole fails once, in its own run.
  for (let at = 1; at <= 12; at++) {
    const location = createMemoryLocation()
    let writes = 0
    const write = <T>(proceed: () => Promise<T>): Promise<T> => {
      if (++writes !== at) return proceed()
      const lost = (): never => {
        throw new StorageError(how === "lost before" ? "unavailable" : "indeterminate", "injected")
      }
      return how === "lost before" ? Promise.reject().catch(lost) : proceed().then(lost)
    }
    const storage = createMemoryStorage({ location })
    const failing = new Proxy(storage, {
      get: (target, name) =>
        name === "append"
          ? (...args: Parameters<SessionStorage["append"]>) => write(() => target.append(...args))
          : Reflect.get(target, name),
    })
    const store = open(failing)
    const lines: SessionStoreEntry[] = long
    for (let from = 0; from < lines.length; from += 10) {
      const part = lines.slice(from, from + 10)
      // As the SDK repeats it, and as a new process does.
      await store.append(MAIN, part).catch(() => store.append(MAIN, part))
    }
    expect(same(await inMemory(location).load(MAIN), lines), `write ${at}`).toBe(true)
    expect(writes).toBeGreaterThan(at)
  }
})

/** Vitest's comparison takes seconds for texts of megabytes. */
function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
