/**
 * Sessions with very many entries of one kind: what each call costs with four times as many. Their messages all follow the first one, since a
 * branch to another path reads that path, as its context does.
 */
import { branchWithSummary } from "@sessions/core/compaction"
import { forkSession, mergeSession, sessionBranches, sessionTree, verifySession } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { encodeHeader } from "../src/format/line.ts"
import type { Sessions } from "../src/session/repository-types.ts"
import { createSessions } from "../src/session/repository.ts"
import type { Session } from "../src/session/types.ts"
import { CPU_TICK_MS, cpuTime } from "./cpu-time.ts"
import { user } from "./writers.ts"

type Make = (session: Session, ids: readonly string[]) => Promise<unknown>

/** One entry of each kind, or one call, of a session whose messages have these ids. */
const STEPS: Readonly<Record<string, (n: number) => Make>> = {
  append: () => (session) => session.append(user("a")),
  label: (n) => (session, ids) => session.label(ids[n] as string, `label ${n}`),
  tombstone: (n) => (session, ids) => session.tombstone(ids[n] as string),
  edit: (n) => (session, ids) => session.edit(ids[n] as string, { content: "edited" }),
  title: (n) => (session) => session.title(`title ${n}`),
  metadata: (n) => (session) => session.metadata(`key ${n % 100}`, n),
  usage: () => (session) => session.append({ type: "usage", kind: "title", usage: { input: 1 } }),
  model: (n) => (session) => session.append({ type: "model_change", provider: "p", model: `m${n}` }),
  "a branch between two places": (n) => (session, ids) => session.branch(ids[n % 2] as string),
  "a branch to each message": (n) => (session, ids) => session.branch(ids[n] as string),
  "a branch behind labels": (n) => async (session, ids) => {
    const { ids: labels } = await session.label(ids[n] as string, "l")
    await session.branch(labels[0] as string)
  },
  "a message at the start": () => (session, ids) => session.append(user("b"), { at: ids[0] as string }),
  "a message at each message": (n) => (session, ids) => session.append(user("b"), { at: ids[n] as string }),
  settle: (n) => (session, ids) => session.settle([ids[n] as string]),
  resetLeaf: () => (session) => session.resetLeaf(),
  "a summary of a branch": (n) => (session, ids) => branchWithSummary(session, ids[n] as string, "summary"),
  reset: () => (session) => session.append({ type: "reset_boundary" }),
}

/** On the session that was made, opened again. */
const CALLS: Readonly<Record<string, (session: Session, sessions: Sessions) => Promise<unknown>>> = {
  open: async () => undefined,
  context: (session) => session.context(),
  messages: (session) => session.messages(),
  info: (session) => session.info(),
  branches: (session) => sessionBranches(session),
  tree: (session) => sessionTree(session),
  append: (session) => session.append(user("more")),
  fork: (session, sessions) => forkSession(sessions, session.id),
  verify: (session, sessions) => verifySession(sessions, session.id),
  merge: async (session, sessions) => {
    const storage = createMemoryStorage()
    await storage.append(session.id, [encodeHeader(session.header)], { expect: 0 })
    return mergeSession(sessions, session.id, storage)
  },
  list: (_, sessions) => sessions.list(),
}

/** The square of four is sixteen. */
const MOST = 8
const NOISE_MS = 25

export function growthTests(count: number): void {
  test.each(Object.entries(STEPS))(`four times as many calls cost about four times as much: %s`, async (_, step) => {
    await costs(step, 200)
    const few = await costs(step, count)
    const many = await costs(step, 4 * count)
    const grown = [...many].filter(([call, cost]) => cost > MOST * ((few.get(call) as number) + CPU_TICK_MS) + NOISE_MS)
    expect(grown).toEqual([])
  })
}

/** CPU time of making the session, and of each call on it. */
async function costs(step: (n: number) => Make, count: number): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  const location = createMemoryLocation()
  const timed = async <T>(call: string, run: () => Promise<T>): Promise<T> => {
    const began = cpuTime()
    const result = await run()
    found.set(call, cpuTime() - began)
    return result
  }
  const made = createSessions({ storage: createMemoryStorage({ location }) })
  const session = await made.create()
  const root = await session.append(user("root"))
  const [at] = root.ids as [string]
  const others = Array.from({ length: count }, (_, n) => session.append(user(`${n}`), { at }))
  const ids = [at, ...(await Promise.all(others)).flatMap((other) => other.ids)]
  await timed("the calls", async () => {
    for (let n = 0; n < count; n++) await step(n)(session, ids)
  })
  await made.close()
  for (const [call, run] of Object.entries(CALLS)) {
    const sessions = createSessions({ storage: createMemoryStorage({ location }) })
    await timed(call, async () => run(await sessions.open(session.id), sessions))
    await sessions.close()
  }
  return found
}
