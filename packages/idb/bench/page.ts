/** What runs in the page: appends and replays through the storage, beside the same transactions written by hand. */
import type { Head } from "@sessions/core/storage"
import { createIndexedDbStorage, type IndexedDbStorage } from "@sessions/idb"
import { createByHand } from "./by-hand.ts"

export interface BenchOptions {
  readonly durability: "relaxed" | "strict"
  readonly rounds: number
  /** Appends in a round, and lines in each of them. */
  readonly appends: number
  readonly lines: number
}

/** Lines of a turn, and its seconds, a figure a round. */
export interface Figures {
  readonly lines: { readonly append: number; readonly replay: number }
  readonly append: Sides
  readonly replay: Sides
  /** After a fold; the rows by hand stay as they are. */
  readonly folded: Sides
}

interface Sides {
  readonly ours: number[]
  readonly byHand: number[]
}

/**
 * Both sides take turns, so many in a round, and a round's figure is its fastest turn: what else the machine does makes turns slower, and
 * none faster.
 */
const SLICES = 10

async function bench({ durability, rounds, appends, lines }: BenchOptions): Promise<Figures> {
  const name = `bench-${Date.now()}`
  const storage = createIndexedDbStorage({ database: name, durability })
  const byHand = await createByHand(`${name}-by-hand`, durability)
  const lengths = { append: (appends / SLICES) * lines, replay: appends * lines }
  const figures: Figures = { lines: lengths, append: sides(), replay: sides(), folded: sides() }
  const batch = Array.from({ length: lines }, (_, index) => lineOf(index))
  const count = appends * lines
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const session = `s${round}`
    const ours = appender(storage, session, batch)
    const slice = appends / SLICES
    const wrote = await takeTurns(
      () => ours(slice),
      (turn) => byHand.append(session, batch, turn * slice, slice),
    )
    const replays = (): Promise<Turns> =>
      takeTurns(
        async () => demand(await replay(storage, session), count),
        async () => demand(await byHand.replay(session), count),
      )
    const read = await replays()
    await storage.fold(session)
    const readFolded = await replays()
    if (round === 0) continue
    for (const [into, turns] of [
      [figures.append, wrote],
      [figures.replay, read],
      [figures.folded, readFolded],
    ] as const) {
      into.ours.push(turns.ours)
      into.byHand.push(turns.byHand)
    }
  }
  await storage[Symbol.asyncDispose]()
  byHand.close()
  return figures
}

function sides(): Sides {
  return { ours: [], byHand: [] }
}

/** Seconds of the fastest turn. */
interface Turns {
  ours: number
  byHand: number
}

async function takeTurns(
  ours: (turn: number) => Promise<unknown>,
  byHand: (turn: number) => Promise<unknown>,
): Promise<Turns> {
  const fastest: Turns = { ours: Infinity, byHand: Infinity }
  for (let turn = 0; turn < SLICES; turn++) {
    const both = [["ours", ours] as const, ["byHand", byHand] as const]
    for (const [side, work] of turn % 2 === 0 ? both : both.toReversed()) {
      const start = performance.now()
      await work(turn)
      fastest[side] = Math.min(fastest[side], (performance.now() - start) / 1_000)
    }
  }
  return fastest
}

function demand(found: number, expected: number): void {
  if (found !== expected) throw new Error(`${found} lines came back of ${expected}`)
}

function appender(
  storage: IndexedDbStorage,
  session: string,
  batch: readonly string[],
): (times: number) => Promise<void> {
  let expect: Head | 0 = 0
  return async (times) => {
    for (let i = 0; i < times; i++) expect = await storage.append(session, batch, { expect })
  }
}

async function replay(storage: IndexedDbStorage, session: string): Promise<number> {
  let count = 0
  for await (const { lines } of storage.read(session)) for (const line of lines) if (line !== "") count++
  return count
}

/** A message of about 2 KB, of words that no compression makes disappear. */
function lineOf(index: number): string {
  let state = index + 1
  const word = (): string => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return (state % 60_466_176).toString(36)
  }
  const text = Array.from({ length: 330 }, word).join(" ").slice(0, 1_950)
  return JSON.stringify({ type: "message", id: index, message: { role: "user", content: [{ type: "text", text }] } })
}

Object.assign(globalThis, { bench })
