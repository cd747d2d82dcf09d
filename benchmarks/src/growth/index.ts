/**
 * Stores of many entries, branches, tombstones and sessions, beside stores of a quarter of that: by how much each call takes longer, and by
 * how much it has more to do.
 */
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { importSession } from "@sessions/core/transfer"
import { createSqliteStorage } from "@sessions/sqlite"
import { inNewProcess } from "../child.ts"
import type { GrowthTimes } from "../children/growth.ts"
import { message } from "../data.ts"
import { createStorage } from "../files/storage.ts"
import { withFolder } from "../folder.ts"
import { median, type Result, type Scenario, timed } from "../report.ts"
import { CALLS, type Of } from "./calls.ts"
import { type Kind, logText } from "./logs.ts"

/** How many times as much the larger store has. */
const TIMES = 4

/** Few, since a call on a million entries takes seconds; the two stores are measured alternately. */
const ROUNDS = 3

export function growthScenarios(quick: boolean): readonly Scenario[] {
  const size = (count: number): number => (quick ? count / 50 : count)
  const logs: Readonly<Record<Kind, number>> = { entries: 1_000_000, branches: 100_000, tombstones: 100_000 }
  return [
    ...(Object.keys(logs) as Kind[]).map((kind): Scenario => {
      const id = `growth.${kind}`
      const make = (folder: string, count: number): Promise<Store> => storeOfLog(folder, kind, count)
      return { id, run: () => growth(id, "log", size(logs[kind]), make) }
    }),
    ...(["files", "sqlite"] as const).map((kind): Scenario => {
      const id = `growth.sessions.${kind}`
      const make = (folder: string, count: number): Promise<Store> => storeOfSessions(folder, kind, count)
      return { id, run: () => growth(id, "sessions", size(50_000), make) }
    }),
  ]
}

interface Store {
  readonly kind: "files" | "sqlite"
  readonly path: string
  readonly session: string
  readonly count: number
}

function growth(
  id: string,
  of: Of,
  count: number,
  make: (folder: string, count: number) => Promise<Store>,
): Promise<Result> {
  return withFolder(async (folder) => {
    const few = await make(join(folder, "few"), count / TIMES)
    const many = await make(join(folder, "many"), count)
    const work: Record<string, number> = {}
    let greatest: readonly number[] = [0]
    for (const call of Object.keys(CALLS[of])) {
      const run = (store: Store, counting: string): Promise<GrowthTimes> => {
        const { kind, path, session } = store
        return inNewProcess<GrowthTimes>("growth", [kind, path, session, of, call, `${store.count}`, counting])
      }
      const [less, more] = [(await run(few, "counted")).work, (await run(many, "counted")).work]
      const times = await alternately({ few: () => run(few, ""), many: () => run(many, "") })
      const [before, after] = [median(times.few), median(times.many)]
      // A call that reads nothing, or as much of each store, does the same work.
      const share = Math.max(1, more / Math.max(1, less))
      const each = times.many.map((ms, n) => ms / (times.few[n] as number) / share)
      if (median(each) > median(greatest)) greatest = each
      Object.assign(work, { [`${call} ms`]: after, [`${call} growth`]: after / before, [`${call} work`]: share })
    }
    return { ...timed(id, "times the work", { ours: greatest, raw: [] }), work: { count, ...work } }
  })
}

type Run = () => Promise<GrowthTimes>

/** Milliseconds. The first round does not count: it fills the cache of the operating system. */
async function alternately(runs: Readonly<Record<"few" | "many", Run>>): Promise<Record<"few" | "many", number[]>> {
  const times: Record<"few" | "many", number[]> = { few: [], many: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const side of round % 2 === 0 ? (["few", "many"] as const) : (["many", "few"] as const)) {
      const { ms } = await runs[side]()
      if (round > 0) times[side].push(ms)
    }
  }
  return times
}

async function storeOfLog(path: string, kind: Kind, count: number): Promise<Store> {
  const sessions = createSessions({ storage: createStorage({ root: path, maxSessionBytes: 4e9 }) })
  const { id } = await importSession(sessions, () => logText(kind, count))
  await sessions.close()
  return { kind: "files", path, session: id, count }
}

/** Sessions of one message. */
async function storeOfSessions(folder: string, kind: Store["kind"], count: number): Promise<Store> {
  const path = kind === "files" ? folder : `${folder}.db`
  const storage = kind === "files" ? createStorage({ root: path }) : createSqliteStorage({ path, durability: "os" })
  const sessions = createSessions({ storage })
  const create = async (n: number): Promise<string> => {
    const session = await sessions.create({ cwd: "/project", entries: [message(n)] })
    await session.close()
    return session.id
  }
  let session = ""
  for (let n = 0; n < count; n += AT_ONCE) {
    const ids = await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, k) => create(n + k)))
    session = ids[0] as string
  }
  await sessions.close()
  return { kind, path, session, count }
}

const AT_ONCE = 20
