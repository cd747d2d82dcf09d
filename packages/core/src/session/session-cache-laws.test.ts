import { compactionStatus } from "../compaction/index.ts"
/** A repository with a cache gives the same answers as one without, whatever happens between two openings. */
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holdsAsync } from "../../test/property.ts"
import { storedLines } from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Chunk, SessionStorage } from "../storage/contract.ts"
import { createSessions } from "./repository.ts"
import type { Sessions } from "./repository-types.ts"
import type { Session } from "./types.ts"

const KINDS = [
  "open",
  "open",
  "open",
  "close",
  "close",
  "close",
  "append",
  "append",
  "turn",
  "branch",
  "reset",
  "title",
  "rename",
  "delete",
  "fork",
  "release",
  "foreign append",
  "foreign append",
  "foreign branch",
  "foreign title",
  "foreign delete",
  "foreign create",
  "foreign damage",
  "replace",
] as const

interface Step {
  readonly kind: (typeof KINDS)[number]
  readonly id: string
  readonly at: number
}

const steps = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), id: fc.constantFrom("a", "b", "c"), at: fc.nat({ max: 99 }) }),
  { maxLength: 60, size: "max" },
)

/** A new opening reads the damaged line to find the path, and the kept session does not. */
const DAMAGE_FURTHER_BACK = (["open", "foreign damage", "reset", "append", "close", "rename", "open"] as const).map(
  (kind): Step => ({ kind, id: "a", at: 0 }),
)

/** One storage with a repository under test and another writer, and the handles that are open. */
class World {
  readonly storage: SessionStorage = createMemoryStorage()
  readonly sessions: Sessions
  readonly elsewhere: Sessions
  readonly open = new Map<string, Session>()
  readonly #ids = new Map<string, string>()
  time = Date.UTC(2026, 0, 31)

  constructor(cache: { readonly sessions: number } | undefined, first: number) {
    const now = (): number => this.time
    const readWindow = { first, largest: 4 * first }
    const o = { storage: this.storage, now, readWindow }
    this.sessions = createSessions(cache === undefined ? o : { ...o, cache })
    this.elsewhere = createSessions(o)
  }

  /** Ids that were made at random, by the order in which they are first seen. */
  plain(value: unknown): unknown {
    const text = JSON.stringify(value) ?? "null"
    const named = text.replace(/[0-9A-HJKMNP-TV-Z]{26}/g, (id) => {
      const known = this.#ids.get(id) ?? `id ${this.#ids.size}`
      this.#ids.set(id, known)
      return known
    })
    return JSON.parse(named)
  }

  async run({ kind, id, at }: Step, n: number): Promise<unknown> {
    this.time += 1_000
    const own = this.open.get(id)
    if (kind === "open") {
      if (own !== undefined) return
      const session = await this.sessions.openOrCreate(id)
      this.open.set(id, session)
      return seen(session, at % 2 === 0)
    }
    if (kind === "close") {
      this.open.delete(id)
      return own?.close()
    }
    if (kind === "append" || kind === "turn" || kind === "branch" || kind === "reset" || kind === "title") {
      return own === undefined ? undefined : write(own, kind, n, at)
    }
    if (kind === "rename") return this.sessions.rename(id, `renamed ${n}`)
    if (kind === "delete") return this.sessions.delete(id)
    if (kind === "fork") return (await this.sessions.fork(id, { id: `fork${n}` })).close()
    // The one step that differs.
    if (kind === "release") return void (await this.sessions.release(id))
    if (kind === "replace") return this.#replace(id)
    if (kind === "foreign delete") return this.elsewhere.delete(id)
    if (kind === "foreign create") return (await this.elsewhere.create({ id, entries: [said(`made ${n}`, n)] })).close()
    if (kind === "foreign damage") {
      const head = await this.storage.head(id)
      if (head !== undefined) await this.storage.append(id, [`damage ${n}`], { expect: head })
      return
    }
    const theirs = await this.elsewhere.open(id)
    await write(theirs, kind.slice("foreign ".length), n, at)
    return theirs.close()
  }

  /** The same lines in a log of another identity. */
  async #replace(id: string): Promise<void> {
    const head = await this.storage.head(id)
    if (head === undefined) return
    const lines = await storedLines(this.storage, id)
    const chunks = async function* (): AsyncGenerator<Chunk> {
      yield { from: 0, lines }
    }
    await this.storage.replace?.(id, chunks(), { expect: head })
  }
}

async function write(session: Session, kind: string, n: number, at: number): Promise<unknown> {
  const { ids } = { ids: (await session.path({ limit: 100 })).entries.map((entry) => entry.id) }
  const entry = said(`${kind} ${n}`, n)
  if (kind === "append") return session.append(entry)
  if (kind === "turn") {
    return session.turn(async (turn) => {
      await turn.append(entry)
      await turn.append({ type: "message", message: { role: "assistant", content: `answer ${n}` }, id: `answer-${n}` })
    })
  }
  if (kind === "title") return session.title(`title ${n}`)
  if (kind === "reset") return session.resetLeaf()
  const target = ids[at % Math.max(1, ids.length)]
  if (target === undefined) return undefined
  await session.branch(target)
  return session.append(entry)
}

function said(content: string, n: number): NewEntry {
  return { type: "message", message: { role: "user", content }, id: `entry-${n}` }
}

/**
 * What a caller sees of a session, but for the identity of its log. Diagnostics are compared if all of the log was read: damage is told of
 * once its line is read, and a kept session may hold fewer lines than a new opening reads.
 */
async function seen(session: Session, whole: boolean): Promise<unknown> {
  const { leafId, header, head } = session
  const { messages, ...context } = await session.context({ repair: "none" })
  const { messages: history } = await session.messages({ limit: 1_000 })
  const info = await session.info()
  if (whole) await session.tree()
  return {
    leafId,
    header,
    next: head?.next,
    compactionStatus: compactionStatus(session),
    messages,
    context,
    history,
    info,
    d: whole ? session.diagnostics : [],
  }
}

async function outcome(world: World, step: Step, n: number): Promise<unknown> {
  try {
    return world.plain(withoutLog(await world.run(step, n)))
  } catch (error) {
    return { code: (error as { code?: string }).code ?? error }
  }
}

/** Without what the storage makes by itself: the identity of the log is random, the time that of the real clock. */
function withoutLog(value: unknown): unknown {
  const own = (key: string, field: unknown): unknown => (key === "log" || key === "updatedAt" ? undefined : field)
  return JSON.parse(JSON.stringify(value, own) ?? "null")
}

async function logs(world: World): Promise<unknown> {
  const all: Record<string, readonly string[]> = {}
  for await (const { id } of world.storage.list()) all[id] = await storedLines(world.storage, id)
  const sorted = Object.fromEntries(Object.entries(all).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  return world.plain(sorted)
}

test("a repository with a cache answers as one without", async () => {
  const history = fc.record({
    steps,
    sessions: fc.integer({ min: 1, max: 3 }),
    first: fc.constantFrom(300, 2_000, 98_304),
  })
  await holdsAsync(
    fc.asyncProperty(history, async ({ steps: all, sessions, first }) => {
      const cached = new World({ sessions }, first)
      const plain = new World(undefined, first)
      for (const [n, step] of all.entries()) {
        expect(await outcome(cached, step, n), `step ${n}, ${step.kind} ${step.id}`).toEqual(
          await outcome(plain, step, n),
        )
      }
      for (const world of [cached, plain]) for (const session of world.open.values()) await session.close()
      expect(await logs(cached)).toEqual(await logs(plain))
      await cached.sessions.close()
    }),
    100,
    [[{ steps: DAMAGE_FURTHER_BACK, sessions: 1, first: 300 }]],
  )
})
