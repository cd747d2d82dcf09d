/** Benchmarks of sessions in PostgreSQL. The raw loops run the same statements over the same driver, in the same database. */
import { createSessions, type Session } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { lineOf, message, turn } from "../data.ts"
import { median, type Result, type Scenario, timed } from "../report.ts"
import { inTurns, milliseconds, ROUNDS, verify } from "../rounds.ts"
import { type Database, withDatabase } from "./database.ts"
import { postgresPeers } from "./peers.ts"
import { appendAll, bytesOnDisk, listNewest, parseAll } from "./raw.ts"

/** Messages of a round with 64 in flight: V8 takes about 50,000 appends to compile all of their code, and a server makes more. */
const STEADY = 25_600

export function postgresScenarios(quick: boolean): readonly Scenario[] {
  const rounds = quick ? 5 : ROUNDS
  const bytes = quick ? 10e6 : 200e6
  return [
    { id: "postgres.append", run: () => append("postgres.append", quick ? 64 : 256, 1, rounds) },
    { id: "postgres.append.64", run: () => append("postgres.append.64", quick ? 640 : STEADY, 64, rounds) },
    { id: "postgres.replay.200mb", run: () => replay(bytes, rounds) },
    { id: "postgres.resume", run: () => resume(bytes, rounds) },
    { id: "postgres.list", run: () => list(quick ? 1_000 : 10_000, rounds) },
    { id: "postgres.size", run: () => size(quick ? 2_000 : 20_000) },
    ...postgresPeers(),
  ]
}

/** Messages of 2 KB by `inFlight` appenders on one session, each on the disk. Raw: a statement for every `inFlight` lines. */
function append(id: string, count: number, inFlight: number, rounds: number): Promise<Result> {
  return withDatabase(async ({ raw, open }) => {
    const sessions = await open()
    const session = await sessions.create()
    await session.append(message(0))
    const other = await sessions.create()
    await other.append(message(0))
    const each = (ms: number): number => (ms * 1_000) / count
    const pair = await inTurns(
      {
        ours: async () => each(await milliseconds(() => appendEach(session, count, inFlight))),
        raw: async () => each(await milliseconds(() => appendAll(raw, other.id, count, inFlight, lineOf))),
      },
      rounds,
    )
    const { messageCount } = await session.info()
    verify(messageCount === 1 + count * (rounds + 1), `${messageCount} messages are in the log`)
    await sessions.close()
    return timed(id, "µs/message", pair)
  })
}

async function appendEach(session: Session, count: number, inFlight: number): Promise<void> {
  let next = 0
  const appender = async (): Promise<void> => {
    while (next < count) await session.append(message(next++))
  }
  await Promise.all(Array.from({ length: inFlight }, appender))
}

/** Every entry of a long session. Raw: the same rows, decoded, and JSON.parse of each line; `asText`: sent as texts by the server. */
function replay(bytes: number, rounds: number): Promise<Result> {
  return withDatabase(async (database) => {
    const id = await fill(database, bytes, false)
    const asText: number[] = []
    let entries = 0
    const pair = await inTurns(
      {
        async ours() {
          const sessions = await database.open()
          const time = await milliseconds(async () => {
            const session = await sessions.open(id)
            entries = 0
            for await (const _ of session.entries()) entries++
          })
          await sessions.close()
          return time
        },
        async raw(round) {
          const parse = (as: "bytes" | "text"): Promise<number> =>
            milliseconds(async () => {
              const lines = await parseAll(database.raw, id, as)
              verify(lines === entries + 1, `${lines} lines and ${entries} entries were read`)
            })
          if (round > 0) asText.push(await parse("text"))
          return parse("bytes")
        },
      },
      rounds,
    )
    return { ...timed("postgres.replay.200mb", "ms", pair), work: { entries, "raw as text": median(asText) } }
  })
}

/** Opens a compacted session and reads its context, by a new repository on a storage that is connected. */
function resume(bytes: number, rounds: number): Promise<Result> {
  return withDatabase(async (database) => {
    const id = await fill(database, bytes, true)
    const times: number[] = []
    let roundTrips = 0
    for (let round = 0; round <= rounds; round++) {
      const storage = await database.connect()
      database.statements()
      const time = await milliseconds(async () => {
        const session = await createSessions({ storage }).open(id)
        verify((await session.context()).messages.length > 0, "the context is empty")
      })
      roundTrips = database.statements().length
      if (round > 0) times.push(time)
    }
    return { ...timed("postgres.resume", "ms", { ours: times, raw: [] }), work: { "round trips": roundTrips } }
  })
}

/** The newest 50 of many sessions. */
function list(count: number, rounds: number): Promise<Result> {
  return withDatabase(async ({ raw, open }) => {
    const sessions = await open({ fast: true })
    for (let i = 0; i < count; i++) {
      const session = await sessions.create()
      await session.append(message(i))
      await session.close()
    }
    // As autovacuum does by and by.
    await raw.query("VACUUM ANALYZE sessions.session")
    const pair = await inTurns(
      {
        ours: () =>
          milliseconds(async () => {
            const page = await sessions.list({ limit: 50 })
            verify(page.sessions.length === 50, "the page is short")
          }),
        raw: () => milliseconds(async () => verify((await listNewest(raw, 50)) === 50, "the page is short")),
      },
      rounds,
    )
    await sessions.close()
    return timed("postgres.list", "ms", pair)
  })
}

/** The tables after awaited appends of 2 KB and VACUUM, over the size of the log. */
function size(count: number): Promise<Result> {
  return withDatabase(async ({ raw, open }) => {
    const sessions = await open({ fast: true })
    const session = await sessions.create()
    for (let i = 0; i < count; i++) await session.append(message(i))
    const { bytes } = await session.parts()
    await sessions.close()
    return timed("postgres.size", "times the log", { ours: [(await bytesOnDisk(raw)) / bytes], raw: [] })
  })
}

async function fill(database: Database, bytes: number, compacted: boolean): Promise<string> {
  const sessions = await database.open({ fast: true })
  const session = await sessions.create()
  for (let i = 0; (await session.parts()).bytes < bytes; i += 4) {
    await session.append(Array.from({ length: 4 }, (_, k) => turn(i + k)).flat())
  }
  if (compacted) await compact(session, { summarize: async () => "## Goal\nKeep going.", keepRecentTokens: 22_000 })
  await sessions.close()
  return session.id
}
