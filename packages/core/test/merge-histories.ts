/**
 * Histories of one session and its forks in several real storages: writers with skewed clocks append, storages are merged in a ring or
 * around one of them, other writers append during a merge, and a merge may end after any of its writes. With the laws that hold once
 * nobody writes. `pnpm test:merge` runs many of them.
 */
import { isDeepStrictEqual } from "node:util"
import * as fc from "fast-check"
import type { Entry } from "../src/format/entry.ts"
import type { Sessions } from "../src/session/repository-types.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { pairsOf } from "./merge-model.ts"
import { entriesIn, type Fuse, seenIn, storeNamed } from "./merge-stores.ts"
import { trueTips } from "./tips-oracle.ts"
import { linesIn, sessionsIn } from "./transfer.ts"
import { copySession, forkSession, mergeSession, verifySession } from "@sessions/core/transfer"

const KINDS = [
  "turn turn turn image title metadata label delete edit branch reset compact",
  "fork merge merge merge merge",
].flatMap((kinds) => kinds.split(" "))

export interface RealStep {
  readonly kind: string
  readonly at: number
  readonly n: number
  /** What the writer's clock shows, in ms. Clocks differ, and go back. */
  readonly clock: number
  /** Of a merge: after which of its writes it ends; `"each"`: it is begun again and again, and ends one write later each time. */
  readonly kill: number | "each"
  /** Of a merge: before which of its writes another writer appends to both storages. */
  readonly busy: number
}

export interface RealHistory {
  readonly storages: number
  readonly shape: "ring" | "star"
  /** Whether the last write of a merge that is killed arrives. */
  readonly arrives: boolean
  readonly steps: readonly RealStep[]
}

const NEVER = 99
/** By which the clock of a device may be wrong. */
const YEAR_MS = 31_536_000_000

export const realHistory: fc.Arbitrary<RealHistory> = fc.record({
  storages: fc.integer({ min: 2, max: 6 }),
  shape: fc.constantFrom("ring" as const, "star" as const),
  arrives: fc.boolean(),
  steps: fc.array(
    fc.record({
      kind: fc.constantFrom(...KINDS),
      at: fc.nat({ max: 5 }),
      n: fc.nat({ max: 99 }),
      clock: fc.oneof({ weight: 9, arbitrary: fc.nat({ max: 9 }) }, { weight: 1, arbitrary: fc.constant(YEAR_MS) }),
      kill: fc.oneof(fc.constant(NEVER), fc.constant("each" as const), fc.integer({ min: 1, max: 8 })),
      busy: fc.oneof({ weight: 3, arbitrary: fc.constant(NEVER) }, { weight: 1, arbitrary: fc.nat({ max: 4 }) }),
    }),
    { maxLength: 16 },
  ),
})

export interface RealWorld {
  /** A new, empty storage. */
  readonly storage: () => SessionStorage
  /** Default: `Sessions.merge`. */
  readonly merge?: RealMerge
}

export type RealMerge = (here: Sessions, id: string, there: SessionStorage) => Promise<unknown>

/** Merges write nothing more in this round, at the latest. */
const ROUNDS = 4

/** Runs the history, then merges all pairs until a round writes nothing. Returns the broken laws; closes the storages. */
export async function brokenRealLaws(h: RealHistory, { storage, merge = merging }: RealWorld): Promise<string[]> {
  const fuse: Fuse = { left: Number.POSITIVE_INFINITY, arrives: h.arrives }
  const stores = Array.from({ length: h.storages }, (_, n) => storeNamed(`store ${n}`, fuse, storage()))
  try {
    const run = new Run(h, stores, fuse, merge)
    for (const step of h.steps) await run.step(step)
    await run.settle()
    return [...run.broken]
  } finally {
    for (const store of stores) await store[Symbol.asyncDispose]()
  }
}

const merging: RealMerge = (here, id, there) => mergeSession(here, id, there)

const said = (text: string) => ({ type: "message", message: { role: "user", content: text } }) as const

class Run {
  readonly broken = new Set<string>()
  readonly #stores: readonly SessionStorage[]
  readonly #pairs: readonly (readonly [number, number])[]
  readonly #fuse: Fuse
  readonly #merge: RealMerge
  readonly #ids = ["s"]
  /** Ids of entries that were written and acknowledged, by session. */
  readonly #written = new Map<string, Set<string>>()
  #isMade = false
  #time = 0

  constructor(h: RealHistory, stores: readonly SessionStorage[], fuse: Fuse, merge: RealMerge) {
    this.#stores = stores
    this.#pairs = pairsOf(h)
    this.#fuse = fuse
    this.#merge = merge
  }

  async step(step: RealStep): Promise<void> {
    if (!this.#isMade) await this.#make()
    const id = this.#ids[step.n % this.#ids.length] as string
    if (step.kind === "merge") return this.#mergeStep(id, step)
    this.#time = step.clock
    const store = this.#stores[step.at % this.#stores.length] as SessionStorage
    if ((await store.head(id)) !== undefined) await this.#write(store, id, step)
  }

  /** Merges all pairs until nothing is written, then compares what readers see in each storage. */
  async settle(): Promise<void> {
    if (!this.#isMade) await this.#make()
    for (const id of this.#ids) {
      let written = 1
      let round = 0
      while (written > 0 && round++ < ROUNDS) {
        written = 0
        for (const pair of this.#pairs) written += await this.#mergePair(id, pair)
      }
      if (written > 0) this.broken.add(`${ROUNDS} rounds do not end`)
      await this.#compare(id)
    }
  }

  async #make(): Promise<void> {
    this.#isMade = true
    const session = await this.#open(0).create({ id: "s", title: "from the header" })
    await session.append(said("first"))
    await session.close()
  }

  #open(n: number): Sessions {
    return this.#on(this.#stores[n % this.#stores.length] as SessionStorage)
  }

  #on(store: SessionStorage): Sessions {
    return sessionsIn(store, { now: () => Date.UTC(2026, 0, 31) + this.#time })
  }

  async #write(store: SessionStorage, id: string, { kind, n }: RealStep): Promise<void> {
    const sessions = this.#on(store)
    if (kind === "fork") {
      if (this.#ids.length > 2) return
      const fork = await forkSession(sessions, id, { id: `fork-${this.#ids.length}` })
      this.#ids.push(fork.id)
      await fork.append(said(`in ${fork.id}`))
      return fork.close()
    }
    const session = await sessions.open(id)
    const messages = (await entriesIn(store, id)).filter(({ type }) => type === "message").map((entry) => entry.id)
    const target = messages[n % messages.length] as string
    const wasReset = session.leafId === null
    const written = await this.#append(session, kind, n, target)
    if (kind === "title" && !wasReset && (await session.info()).title !== (n % 5 === 0 ? undefined : `title ${n}`))
      this.broken.add("a rename does not show where it was made")
    await session.close()
    for (const one of written) this.#writtenIn(id).add(one)
  }

  async #append(
    session: Awaited<ReturnType<Sessions["open"]>>,
    kind: string,
    n: number,
    target: string,
  ): Promise<readonly string[]> {
    if (kind === "turn" || session.leafId === null) return (await session.append(said(`turn ${n}`))).ids
    if (kind === "image") {
      const image = { type: "image", mimeType: "image/png", data: btoa(`image ${n} `.repeat(200)) } as const
      return (await session.append({ type: "message", message: { role: "user", content: [image] } })).ids
    }
    if (kind === "title") return (await session.title(n % 5 === 0 ? null : `title ${n}`)).ids
    if (kind === "metadata") return (await session.metadata(`k${n % 2}`, n)).ids
    if (kind === "label") return (await session.label(target, `label ${n}`)).ids
    if (kind === "delete") return (await session.tombstone(target)).ids
    if (kind === "edit") return (await session.edit(target, n % 2 === 0 ? null : { content: `edited ${n}` })).ids
    if (kind === "branch") return (await session.branch(target)).ids
    if (kind === "reset") return (await session.resetLeaf()).ids
    const summary = { type: "compaction", summary: `summary ${n}`, tokensBefore: 1 } as const
    const firstKeptEntryId = session.leafId
    return (await session.append({ ...summary, firstKeptEntryId, readFiles: [], modifiedFiles: [] })).ids
  }

  async #mergeStep(id: string, { n, kill, busy }: RealStep): Promise<void> {
    const pair = this.#pairs[n % this.#pairs.length] as readonly [number, number]
    let write = 0
    this.#fuse.meanwhile = async () => {
      if (write++ !== busy) return
      for (const at of pair) await this.#meanwhile(at, id, n)
    }
    try {
      if (kill !== "each") return await this.#killed(id, pair, kill === NEVER ? undefined : kill)
      for (let last = 1; ; last++) {
        await this.#killed(id, pair, last)
        if (this.#fuse.left > 0) return
      }
    } finally {
      this.#fuse.left = Number.POSITIVE_INFINITY
      this.#fuse.meanwhile = undefined
    }
  }

  async #killed(id: string, pair: readonly [number, number], write: number | undefined): Promise<void> {
    this.#fuse.left = write ?? Number.POSITIVE_INFINITY
    await this.#mergePair(id, pair).catch((error: { code?: string }) => {
      if (error.code !== "closed") throw error
    })
  }

  /** Another process that appends while a merge runs. The process of the merge may be killed, this one is not. */
  async #meanwhile(at: number, id: string, n: number): Promise<void> {
    const store = this.#stores[at] as SessionStorage
    if ((await store.head(id)) === undefined) return
    const { left, meanwhile } = this.#fuse
    Object.assign(this.#fuse, { left: Number.POSITIVE_INFINITY, meanwhile: undefined })
    const session = await this.#on(store).open(id)
    for (const one of (await session.append(said(`meanwhile ${n}`))).ids) this.#writtenIn(id).add(one)
    await session.close()
    Object.assign(this.#fuse, { left, meanwhile })
  }

  /** Returns how many lines were written. */
  async #mergePair(id: string, [one, other]: readonly [number, number]): Promise<number> {
    const [from, to] = [this.#stores[one] as SessionStorage, this.#stores[other] as SessionStorage]
    const [here, there] = (await from.head(id)) === undefined ? [to, from] : [from, to]
    if ((await here.head(id)) === undefined) return 0
    const before = ((await here.head(id))?.next ?? 0) + ((await there.head(id))?.next ?? 0)
    await this.#merge(sessionsIn(here), id, there)
    return ((await here.head(id))?.next ?? 0) + ((await there.head(id))?.next ?? 0) - before
  }

  #writtenIn(id: string): Set<string> {
    const written = this.#written.get(id) ?? new Set()
    this.#written.set(id, written)
    return written
  }

  async #compare(id: string): Promise<void> {
    let first: unknown
    for (const store of this.#stores) {
      const seen = await seenIn(store, id)
      first ??= seen
      if (!isDeepStrictEqual(seen, first)) this.broken.add("the storages do not show the same")
      const entries = await entriesIn(store, id)
      const open = trueTips([undefined, ...entries], 0).open.map((seq) => (entries[seq - 1] as Entry).id)
      if (JSON.stringify(open.toSorted()) !== JSON.stringify(seen.info.tips))
        this.broken.add("a branch that nobody left knowingly is not reported")
      const before = new Set<string>()
      for (const entry of entries) {
        if (before.has(entry.id)) this.broken.add("an entry is in a log twice")
        if (entry.parentId !== null && !before.has(entry.parentId)) this.broken.add("a parent is not before its child")
        before.add(entry.id)
      }
      for (const one of this.#written.get(id) ?? []) if (!before.has(one)) this.broken.add("an entry is lost")
      const { damaged } = await verifySession(
        sessionsIn({ ...store, [Symbol.asyncDispose]: async () => undefined }),
        id,
      )
      if (damaged) this.broken.add("a log is damaged")
      if ((await linesIn(store, id)).length !== (await store.head(id))?.next) this.broken.add("a head is wrong")
    }
  }
}

/** Appends what each side lacks, and leaves the ends as they come. */
export const plainUnion: RealMerge = async (here, id, there) => {
  if ((await there.head(id)) === undefined) return copySession(here, id, there)
  const own = await entriesIn(here.storage, id)
  const other = await entriesIn(there, id)
  await give(there, id, own, other)
  return give(here.storage, id, other, own)
}

/** Merges, then brings each side back to its own leaf. */
export const eachStays: RealMerge = async (here, id, there) => {
  const sides = [here, sessionsIn(there)]
  const leaves = await Promise.all(sides.map((side) => leafOf(side, id)))
  await mergeSession(here, id, there)
  for (const [n, side] of sides.entries()) {
    const leaf = leaves[n]
    if (leaf === undefined || leaf === null || leaf === (await leafOf(side, id))) continue
    const session = await side.open(id)
    await session.branch(leaf)
    await session.close()
  }
}

async function leafOf(sessions: Sessions, id: string): Promise<string | null | undefined> {
  if ((await sessions.storage.head(id)) === undefined) return undefined
  const session = await sessions.open(id)
  const { leafId } = session
  await session.close()
  return leafId
}

type Entries = Awaited<ReturnType<typeof entriesIn>>

async function give(to: SessionStorage, id: string, from: Entries, known: Entries): Promise<void> {
  const head = await to.head(id)
  if (head === undefined) return
  const ids = new Set(known.map((entry) => entry.id))
  const lines = from
    .filter((entry) => !ids.has(entry.id))
    .map((entry, index) => JSON.stringify({ ...entry, seq: head.next + index }))
  if (lines.length > 0) await to.append(id, lines, { expect: { next: head.next, log: head.log } })
}
