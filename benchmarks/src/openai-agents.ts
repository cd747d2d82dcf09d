/**
 * `pnpm bench:openai-agents`: a session of the OpenAI Agents SDK with 10,000 items, in files and in SQLite, beside a plain SQLite table of the
 * same items, each as JSON in a row. The table is opened as often as the storages: a write-ahead log is made at the
 * opening, and syncing a new one that grows takes longer than one that is written over. Prints the medians of reading all items, by a session
 * that has just been opened and by one that has read them before, of adding a turn of four items, and of adding all items at once; how many
 * times as long as the table they take, and the least and the most of this in a round.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createAgentSession } from "@sessions/openai-agents"
import { createSqliteStorage } from "@sessions/sqlite"
import { open, type Raw } from "./sqlite/raw.ts"

const ITEMS = 10_000
const ROUNDS = 9
const TURNS = 200

type Item = Readonly<Record<string, unknown>>

interface Session {
  getItems(): Promise<readonly object[]>
  addItems(items: readonly object[]): Promise<void>
}

interface Subject {
  readonly name: string
  readonly open: (session: string) => Promise<Opened>
}

interface Opened {
  readonly session: Session
  readonly close: () => Promise<void>
}

for (const durability of ["disk", "os"] as const) await compare(durability)

async function compare(durability: "disk" | "os"): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-openai-agents-"))
  const subjects: readonly Subject[] = [
    { name: "table", open: async (session) => ofTable(join(folder, "table.db"), session, durability) },
    {
      name: "SQLite",
      open: opener(() => createSqliteStorage({ path: join(folder, "sessions.db"), durability })),
    },
    { name: "files", open: opener(() => createFileStorage({ root: join(folder, "files"), durability })) },
  ]
  const millis = new Map<string, Map<string, number[]>>()
  const measure = async (what: string, subject: string, work: () => Promise<unknown>): Promise<void> => {
    globalThis.gc?.()
    const start = performance.now()
    await work()
    const times = millis.get(what) ?? new Map<string, number[]>()
    millis.set(what, times.set(subject, [...(times.get(subject) ?? []), performance.now() - start]))
  }
  const items = Array.from({ length: ITEMS / 4 }, (_, n) => turn(n)).flat()
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, open: openSession } of subjects) {
      const all = await openSession(`all ${round}`)
      await measure("all items added at once", name, () => all.session.addItems(items))
      await all.close()
      const again = await openSession(`all ${round}`)
      await measure("first read after opening", name, () => again.session.getItems())
      await measure("later read", name, () => again.session.getItems())
      await again.close()
      const turns = await openSession(`turns ${round}`)
      await turns.session.addItems(turn(0))
      await measure(`${TURNS} turns of 4 items added`, name, async () => {
        for (let n = 1; n <= TURNS; n++) await turns.session.addItems(turn(n))
      })
      await turns.close()
    }
  }
  for (const [what, times] of millis) {
    const table = times.get("table") ?? []
    const others = subjects.slice(1).map(({ name }) => {
      const own = times.get(name) ?? []
      const byRound = own.map((time, round) => time / (table[round] ?? 0))
      const spread = `${Math.min(...byRound).toFixed(1)} to ${Math.max(...byRound).toFixed(1)}`
      return `${name} ${median(own).toFixed(1)} (${(median(own) / median(table)).toFixed(2)}; by round ${spread})`
    })
    console.log(`${durability}: ${what}, ms: table ${median(table).toFixed(1)}, ${others.join(", ")}`)
  }
  rmSync(folder, { recursive: true })
}

function opener(storage: () => SessionStorage): Subject["open"] {
  return async (sessionId) => {
    const sessions = createSessions({ storage: storage() })
    const session = createAgentSession<object>({ sessions, sessionId })
    const close = async (): Promise<void> => {
      await session.close()
      await sessions.close()
    }
    return { session, close }
  }
}

/** The table is opened by the first call, as the storages are. */
function ofTable(path: string, session: string, durability: "disk" | "os"): Opened {
  const connect = (): Connected => {
    const db = open(path)
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durability === "disk" ? "FULL" : "NORMAL"}`)
    db.exec("CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, session TEXT NOT NULL, item TEXT NOT NULL)")
    db.exec("CREATE INDEX IF NOT EXISTS items_of_session ON items (session, id)")
    const insert = db.prepare("INSERT INTO items (session, item) VALUES (?, ?)")
    const select = db.prepare("SELECT item FROM items WHERE session = ? ORDER BY id")
    return { db, insert, select }
  }
  let connected: Connected | undefined
  return {
    session: {
      async getItems() {
        const { select } = (connected ??= connect())
        return (select.all(session) as { item: string }[]).map(({ item }) => JSON.parse(item) as object)
      },
      async addItems(items) {
        const { db, insert } = (connected ??= connect())
        db.exec("BEGIN")
        for (const item of items) insert.run(session, JSON.stringify(item))
        db.exec("COMMIT")
      },
    },
    async close() {
      connected?.db.close()
    },
  }
}

interface Connected {
  readonly db: Raw
  readonly insert: ReturnType<Raw["prepare"]>
  readonly select: ReturnType<Raw["prepare"]>
}

/** About 1.5 KB, as a run with one tool call gives it. */
function turn(n: number): readonly Item[] {
  const callId = `call_${n}`
  return [
    { type: "message", role: "user", content: `question ${n}: ${"what is in this place? ".repeat(8)}` },
    {
      type: "function_call",
      id: `fc_${n}`,
      callId,
      name: "look_up",
      status: "completed",
      arguments: `{"place":"place ${n}"}`,
    },
    {
      type: "function_call_result",
      callId,
      name: "look_up",
      status: "completed",
      output: { type: "text", text: `found ${n}: ${"a house, a street and a tree. ".repeat(20)}` },
    },
    {
      type: "message",
      id: `msg_${n}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: `answer ${n}: ${"there is a house. ".repeat(15)}` }],
    },
  ]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
