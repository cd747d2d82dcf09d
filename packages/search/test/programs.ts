/**
 * Random histories of several sessions, made by two programs that share a storage and an index: messages, branches, tombstones, edits,
 * deletions, replaced logs, restarts, and an index that is deleted or damaged.
 */
import { createSessions, type Session, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { createSearch, type Search } from "../src/index.ts"
import { HARMS, type Harm, type IndexPlace } from "./indexes.ts"
import { scan, type Wanted } from "./scan.ts"

/** Many words begin with others, so that prefixes matter. */
const WORDS = [
  "a",
  "al",
  "alpha",
  "alphabet",
  "be",
  "beta",
  "key",
  "keys",
  "deploy",
  "deployment",
  "x1",
  "x12",
] as const
const FOLDERS = ["/a", "/b"] as const
const ROLES = ["user", "assistant"] as const
const IDS = ["s1", "s2", "s3", "s4"] as const

/** `pick`: chooses an entry. `program`: which of two programs does it; each has its own storage object, sessions and search. */
export type Step = { readonly program: 0 | 1; readonly id: (typeof IDS)[number] } & (
  | { readonly do: "say"; readonly words: readonly string[]; readonly role: (typeof ROLES)[number] }
  | { readonly do: "branch" | "tombstone" | "edit"; readonly pick: number }
  | { readonly do: "delete" | "replace" | "update" | "restart" | "clear" }
  | { readonly do: "move"; readonly cwd: (typeof FOLDERS)[number] }
  | { readonly do: "harm"; readonly how: Harm }
  | { readonly do: "find"; readonly wanted: Wanted; readonly own: boolean }
)

const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 })
const wanted: fc.Arbitrary<Wanted> = fc.record({
  text: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 }).map((list) => list.join(" ")),
  cwd: fc.option(fc.constantFrom(...FOLDERS), { nil: undefined, freq: 2 }),
  role: fc.option(fc.constantFrom(...ROLES), { nil: undefined, freq: 2 }),
})
const who = { program: fc.constantFrom(0 as const, 1 as const), id: fc.constantFrom(...IDS) }
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ ...who, do: fc.constant("say" as const), words, role: fc.constantFrom(...ROLES) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      ...who,
      do: fc.constantFrom("branch" as const, "tombstone" as const, "edit" as const),
      pick: fc.nat(50),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...who,
      do: fc.constantFrom(
        "delete" as const,
        "replace" as const,
        "update" as const,
        "restart" as const,
        "clear" as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ ...who, do: fc.constant("move" as const), cwd: fc.constantFrom(...FOLDERS) }) },
  { weight: 1, arbitrary: fc.record({ ...who, do: fc.constant("harm" as const), how: fc.constantFrom(...HARMS) }) },
  { weight: 6, arbitrary: fc.record({ ...who, do: fc.constant("find" as const), wanted, own: fc.boolean() }) },
)

/** What a search found, and what a scan over all lines finds. */
export interface Compared {
  readonly found: readonly string[]
  readonly expected: readonly string[]
  /** With `"own"`, what the other program wrote may be missing. */
  readonly catchUp: "all" | "own"
  readonly unreadable: number
}

interface Program {
  readonly storage: SessionStorage
  readonly sessions: Sessions
  readonly search: Search
}

export class Programs {
  readonly #location = createMemoryLocation()
  readonly #place: IndexPlace
  all: Program[]

  constructor(place: IndexPlace) {
    this.#place = place
    this.all = [this.#start(), this.#start()]
  }

  /** Resolves with the comparison, if the step is a search. */
  async take(step: Step): Promise<Compared | undefined> {
    const program = this.all[step.program] as Program
    const { storage, sessions, search } = program
    switch (step.do) {
      case "say":
        await this.#with(program, step.id, async (session) => {
          await session.append({ type: "message", message: { role: step.role, content: step.words.join(", ") } })
        })
        return undefined
      case "branch":
      case "tombstone":
      case "edit":
        await this.#with(program, step.id, async (session) => {
          const ids: string[] = []
          for await (const { id, type } of session.entries()) if (type === "message") ids.push(id)
          const target = ids[step.pick % ids.length]
          if (target === undefined) return
          if (step.do === "branch") await session.branch(target)
          else if (step.do === "tombstone") await session.tombstone(target)
          else await session.edit(target, step.pick % 2 === 0 ? null : { content: "replaced" })
        })
        return undefined
      case "move":
        await this.#with(program, step.id, async (session) => void (await session.metadata("cwd", step.cwd)))
        return undefined
      case "delete":
        await sessions.delete(step.id).catch(() => undefined)
        return undefined
      case "replace":
        await this.#replace(storage, step.id)
        return undefined
      case "update":
        await search.update(step.id)
        return undefined
      case "clear":
        await search.clear()
        return undefined
      case "restart":
        await this.#stop(program)
        this.all[step.program] = this.#start()
        return undefined
      case "harm":
        for (const one of this.all) await this.#stop(one)
        await this.#place.harm(step.how)
        this.all = [this.#start(), this.#start()]
        return undefined
      case "find":
        return this.compare(program, step.wanted, step.own ? "own" : "all")
    }
  }

  async compare({ storage, search }: Program, wanted: Wanted, catchUp: "all" | "own"): Promise<Compared> {
    const { text, cwd, role } = wanted
    const expected = await scan(storage, wanted)
    const filters = { ...(cwd === undefined ? {} : { cwd }), ...(role === undefined ? {} : { role }) }
    const found: string[] = []
    let broken = 0
    let cursor: string | undefined
    do {
      const after = cursor === undefined ? {} : { cursor }
      const { hits, next, unreadable } = await search.search(text, { ...filters, ...after, catchUp, limit: 5 })
      broken += unreadable.length
      for (const { session, entryId } of hits) found.push(`${session}/${entryId}`)
      cursor = next
    } while (cursor !== undefined)
    return { found: found.sort(), expected, catchUp, unreadable: broken }
  }

  async close(): Promise<void> {
    for (const program of this.all) await this.#stop(program)
    await this.#place.remove()
  }

  #start(): Program {
    const storage = createMemoryStorage({ location: this.#location })
    const search = createSearch({ storage, index: this.#place.open() })
    return { storage, search, sessions: createSessions({ storage, hooks: search.hooks }) }
  }

  async #stop({ search, sessions }: Program): Promise<void> {
    await search.close()
    await sessions.close()
  }

  async #with({ sessions }: Program, id: string, work: (session: Session) => Promise<void>): Promise<void> {
    const session = await sessions.openOrCreate(id, { cwd: "/a" })
    try {
      await work(session)
    } finally {
      await session.close()
    }
  }

  /** Another log with the same lines but the last message, as a restored copy has it. */
  async #replace(storage: SessionStorage, id: string): Promise<void> {
    const head = await storage.head(id)
    if (head === undefined || storage.replace === undefined) return
    const lines: string[] = []
    for await (const chunk of storage.read(id)) lines.push(...chunk.lines)
    const kept = lines.length > 2 ? lines.slice(0, -1) : lines
    await storage.replace(id, chunks(kept), { expect: { log: head.log, next: head.next } })
  }
}

async function* chunks(lines: readonly string[]): AsyncGenerator<{ from: number; lines: readonly string[] }> {
  yield { from: 0, lines }
}
