/** Benchmarks of sessions in a SQLite file. The raw loops run the same statements over the same driver, on the same file. */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { createSessions, type Session, type Sessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { createSqliteStorage } from "@sessions/sqlite"
import { lineOf, message, turn } from "../data.ts"
import { withFolder } from "../folder.ts"
import { sqlitePeers } from "../peers/databases.ts"
import { type Result, type Scenario, timed } from "../report.ts"
import { inTurns, milliseconds, ROUNDS, verify } from "../rounds.ts"
import { appendAll, open, parseAll } from "./raw.ts"

/** Messages of a round with 64 in flight: V8 takes about 50,000 appends to compile all of their code, and a server makes more. */
const STEADY = 25_600

export function sqliteScenarios(quick: boolean): readonly Scenario[] {
  const rounds = quick ? 5 : ROUNDS
  const bytes = quick ? 10e6 : 200e6
  return [
    { id: "sqlite.append", run: () => append("sqlite.append", quick ? 64 : 256, 1, rounds) },
    { id: "sqlite.append.64", run: () => append("sqlite.append.64", quick ? 640 : STEADY, 64, rounds) },
    { id: "sqlite.replay.200mb", run: () => replay(bytes, rounds) },
    { id: "sqlite.resume", run: () => resume(bytes, rounds) },
    { id: "sqlite.list", run: () => list(quick ? 1_000 : 10_000, rounds) },
    { id: "sqlite.size", run: () => size(quick ? 2_000 : 20_000) },
    ...sqlitePeers(),
  ]
}

type Place = { readonly folder: string; readonly path: string; readonly open: (o?: Durability) => Sessions }
type Durability = { readonly durability?: "disk" | "os" }

function inFile(work: (place: Place) => Promise<Result>): Promise<Result> {
  return withFolder((folder) => {
    const path = join(folder, "sessions.db")
    return work({
      folder,
      path,
      open: (o) => createSessions({ storage: createSqliteStorage({ ...o, path, maxSessionBytes: 4e9 }) }),
    })
  })
}

/** Messages of 2 KB by `inFlight` appenders on one session, each on the disk. Raw: a transaction for every `inFlight` lines. */
function append(id: string, count: number, inFlight: number, rounds: number): Promise<Result> {
  return inFile(async ({ path, open: openSessions }) => {
    const sessions = openSessions()
    const session = await sessions.create()
    await session.append(message(0))
    const other = await sessions.create()
    await other.append(message(0))
    const raw = open(path)
    raw.exec("PRAGMA synchronous = FULL")
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
    raw.close()
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

/** Every entry of a long session. Raw: the same rows, decoded, and JSON.parse of each line. */
function replay(bytes: number, rounds: number): Promise<Result> {
  return inFile(async ({ path, open: openSessions }) => {
    const session = await fill(openSessions, bytes, false)
    const raw = open(path)
    let entries = 0
    const pair = await inTurns(
      {
        ours: () =>
          milliseconds(async () => {
            const sessions = openSessions()
            const opened = await sessions.open(session)
            entries = 0
            for await (const _ of opened.entries()) entries++
            await sessions.close()
          }),
        raw: () => milliseconds(() => verify(parseAll(raw, session) > 0, "no line was read")),
      },
      rounds,
    )
    raw.close()
    return { ...timed("sqlite.replay.200mb", "ms", pair), work: { entries } }
  })
}

/** Opens a compacted session and reads its context. */
function resume(bytes: number, rounds: number): Promise<Result> {
  return inFile(async ({ open: openSessions }) => {
    const id = await fill(openSessions, bytes, true)
    const times: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const time = await milliseconds(async () => {
        const sessions = openSessions()
        const session = await sessions.open(id)
        verify((await session.context()).messages.length > 0, "the context is empty")
        await sessions.close()
      })
      if (round > 0) times.push(time)
    }
    return timed("sqlite.resume", "ms", { ours: times, raw: [] })
  })
}

/** The newest 50 of many sessions. */
function list(count: number, rounds: number): Promise<Result> {
  return inFile(async ({ open: openSessions }) => {
    const sessions = openSessions({ durability: "os" })
    for (let i = 0; i < count; i++) {
      const session = await sessions.create()
      await session.append(message(i))
      await session.close()
    }
    const times: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const time = await milliseconds(async () => {
        const page = await sessions.list({ limit: 50 })
        verify(page.sessions.length === 50, "the page is short")
      })
      if (round > 0) times.push(time)
    }
    await sessions.close()
    return timed("sqlite.list", "ms", { ours: times, raw: [] })
  })
}

/** The file after awaited appends of 2 KB and a checkpoint, over the size of the log. */
function size(count: number): Promise<Result> {
  return inFile(async ({ folder, open: openSessions }) => {
    const sessions = openSessions({ durability: "os" })
    const session = await sessions.create()
    for (let i = 0; i < count; i++) await session.append(message(i))
    const { bytes } = await session.parts()
    // Closing the last connection writes the WAL to the main file.
    await sessions.close()
    const onDisk = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    return timed("sqlite.size", "times the log", { ours: [onDisk / bytes], raw: [] })
  })
}

async function fill(openSessions: Place["open"], bytes: number, compacted: boolean): Promise<string> {
  const sessions = openSessions({ durability: "os" })
  const session = await sessions.create()
  for (let i = 0; (await session.parts()).bytes < bytes; i += 4) {
    await session.append(Array.from({ length: 4 }, (_, k) => turn(i + k)).flat())
  }
  if (compacted) await compact(session, { summarize: async () => "## Goal\nKeep going.", keepRecentTokens: 22_000 })
  await sessions.close()
  return session.id
}
