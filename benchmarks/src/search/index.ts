/**
 * Search over 10,000 sessions of 10 messages, on files and on SQLite, with an index in SQLite: what a search costs after one new message, and
 * what catching up with it costs by itself. There is no raw loop: a scan of all logs would take seconds.
 */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { createSessions, type NewEntry, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createSearch, type FindOptions, type Search } from "@sessions/search"
import { createSqliteIndex } from "@sessions/search/sqlite"
import { createSqliteStorage } from "@sessions/sqlite"
import { withFolder } from "../folder.ts"
import { median, type Result, type Scenario, timed } from "../report.ts"
import { milliseconds, verify } from "../rounds.ts"

const MESSAGES = 10
/** Sessions that are created at once. */
const CREATED = 20

export function searchScenarios(quick: boolean): readonly Scenario[] {
  const count = quick ? 300 : 10_000
  const rounds = quick ? 5 : 15
  return [
    { id: "search.files", run: () => measure("search.files", count, rounds, (root) => createFileStorage({ root })) },
    {
      id: "search.sqlite",
      run: () =>
        measure("search.sqlite", count, rounds, (root) =>
          createSqliteStorage({ path: `${root}.db`, durability: "os" }),
        ),
    },
  ]
}

function measure(id: string, count: number, rounds: number, open: (root: string) => SessionStorage): Promise<Result> {
  return withFolder(async (base) => {
    const storage = open(join(base, "sessions"))
    const folder = join(base, "index")
    const search = createSearch({ storage, index: createSqliteIndex({ folder }) })
    const sessions = createSessions({ storage, hooks: search.hooks })
    for (let at = 0; at < count; at += CREATED) {
      await Promise.all(Array.from({ length: Math.min(CREATED, count - at) }, (_, k) => create(sessions, at + k)))
    }
    const session = await sessions.create()
    const buildS = (await milliseconds(() => search.catchUp())) / 1_000
    const indexMB = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1e6
    let fresh = 0
    /** Each round finds a message that was appended just before. */
    const say = async (): Promise<string> => {
      const word = `fresh${++fresh}`
      await session.append({ type: "message", message: { role: "user", content: `a message with ${word}` } })
      return word
    }
    const rows = {
      update: async () => (await say(), milliseconds(() => search.update(session.id))),
      own: async () => find(search, await say(), { catchUp: "own" }),
      all: async () => find(search, await say(), {}),
      // Words of one, a tenth and all messages; the prefix of many words.
      rare: () => find(search, "w77", { catchUp: "own" }),
      two: () => find(search, "deploy key", { catchUp: "own" }),
      common: () => find(search, "session message", { catchUp: "own" }),
      letter: () => find(search, "w", { catchUp: "own" }),
      folder: () => find(search, "session", { catchUp: "own", cwd: "/project/7" }),
      best: () => find(search, "deploy key", { catchUp: "own", order: "best" }),
    }
    const times: Record<string, number[]> = {}
    for (let round = 0; round <= rounds; round++) {
      for (const [name, row] of Object.entries(rows)) {
        const time = await row()
        if (round > 0) (times[name] ??= []).push(time)
      }
    }
    await search.close()
    await sessions.close()
    const work = Object.fromEntries(
      Object.keys(rows)
        .slice(1)
        .map((name) => [`${name}Ms`, median(times[name] ?? [])]),
    )
    const result = timed(id, "ms", { ours: times["update"] ?? [], raw: [] })
    return { ...result, work: { ...work, buildS, indexMB } }
  })
}

async function create(sessions: Sessions, at: number): Promise<void> {
  const session = await sessions.create({ cwd: `/project/${at % 50}` })
  await session.append(Array.from({ length: MESSAGES }, (_, k) => said(at * MESSAGES + k)))
  await session.close()
}

function find(search: Search, text: string, o: FindOptions): Promise<number> {
  return milliseconds(async () => {
    const { hits } = await search.search(text, o)
    verify(hits.length > 0, `${text} has no hit`)
  })
}

const COMMON = "the session keeps every message of an agent and opens at once from its end without reading".split(" ")

/** About 400 characters: half of common words, half of 20,000 others. */
function said(index: number): NewEntry {
  const words = Array.from({ length: 60 }, (_, at) =>
    at % 2 === 0 ? COMMON[(index + at) % COMMON.length] : `w${(index * 31 + at * at * 17) % 20_000}`,
  )
  if (index % 10 === 0) words.push("deploy", "key")
  words.push("session", "message")
  return { type: "message", message: { role: index % 2 === 0 ? "user" : "assistant", content: words.join(" ") } }
}
