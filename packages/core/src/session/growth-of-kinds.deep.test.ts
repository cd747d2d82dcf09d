/** What logs of one kind of entry cost: four times as many are about four times the work of each call. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "./repository.ts"
import type { Sessions } from "./repository-types.ts"
import { chain, linesOf, user } from "../../test/chain.ts"
import { CPU_TICK_MS, cpuTime } from "../../test/cpu-time.ts"
import { HEADER } from "../../test/logs.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { textOf } from "../../test/transfer.ts"
import { EntryLog } from "../log/entry-log.ts"
import { tipsOfLog } from "../log/tips-of-log.ts"
import { growthOf, MOST_GROWTH, times } from "../../test/growth-of.ts"
import {
  copySession,
  exportSession,
  forkSession,
  importSession,
  sessionBranches,
  sessionTree,
  verifySession,
} from "../transfer/index.ts"

type Fields = Record<string, unknown>

/** The entry at a place of the log, whose first entry is `e1`. */
const KINDS: Readonly<Record<string, (n: number) => Fields>> = {
  message: (n) => user(`${n}`),
  "tool call": (n) => ({
    type: "message",
    message: { role: "assistant", content: [{ type: "toolCall", id: `c${n}`, name: "t", arguments: { n } }] },
  }),
  "result without a call": (n) => ({
    type: "message",
    message: { role: "toolResult", toolCallId: `c${n}`, toolName: "t", content: [], isError: false },
  }),
  "branch from the first entry": (n) => user(`${n}`, { parentId: "e1" }),
  "entry of an unknown parent": (n) => user(`${n}`, { parentId: `gone${n}` }),
  "entry with one id": (n) => user(`${n}`, { id: "same", parentId: "e1" }),
  leaf: (n) => ({ type: "leaf", parentId: n % 2 === 0 ? "e1" : null }),
  "branch summary": (n) => ({ type: "branch_summary", parentId: "e1", fromId: "e1", summary: `${n}` }),
  tombstone: () => ({ type: "tombstone", targetId: "e1" }),
  edit: (n) => ({ type: "context_edit", targetId: "e1", replacement: { content: [{ type: "text", text: `${n}` }] } }),
  label: (n) => ({ type: "label", targetId: "e1", label: `${n}` }),
  title: (n) => ({ type: "title_change", title: `${n}`, source: "user" }),
  metadata: (n) => ({ type: "metadata", key: `k${n}`, value: n }),
  usage: () => ({ type: "usage", kind: "x", usage: { input: 1 } }),
  model: (n) => ({ type: "model_change", provider: "p", model: `m${n}` }),
  mode: (n) => ({ type: "mode_change", mode: `m${n}` }),
  custom: (n) => ({ type: "custom", customType: "x", data: n }),
  "custom message": (n) => ({ type: "custom_message", customType: "x", content: [{ type: "text", text: `${n}` }] }),
  reset: () => ({ type: "reset_boundary" }),
  compaction: (n) => ({ type: "compaction", summary: `${n}`, firstKeptEntryId: `e${n}`, tokensBefore: 1 }),
}

const CALLS: Readonly<Record<string, (sessions: Sessions) => Promise<unknown>>> = {
  list: (sessions) => sessions.list(),
  context: async (sessions) => (await sessions.open(STORED_ID)).context(),
  path: async (sessions) => (await sessions.open(STORED_ID)).path({ limit: 1_000 }),
  tree: async (sessions) => sessionTree(await sessions.open(STORED_ID)),
  branches: async (sessions) => sessionBranches(await sessions.open(STORED_ID)),
  append: async (sessions) => (await sessions.open(STORED_ID)).title("t"),
  verify: (sessions) => verifySession(sessions, STORED_ID),
  fork: (sessions) => forkSession(sessions, STORED_ID),
  import: async (sessions) =>
    importSession(createSessions({ storage: createMemoryStorage() }), await textOf(exportSession(sessions, STORED_ID))),
  copy: (sessions) => copySession(sessions, STORED_ID, createMemoryStorage()),
}

/** Milliseconds: what takes less is as good as nothing. */
const LEAST_MS = 4

test.each(Object.entries(KINDS))("entries of the kind %s", async (_, entryOf) => {
  const costs = async (count: number): Promise<Map<string, number>> => {
    const entries = Array.from({ length: count }, (_, n) => entryOf(n + 1))
    const lines = linesOf(chain(user("first"), ...entries), HEADER)
    const found = new Map<string, number>()
    for (const [name, call] of Object.entries(CALLS)) {
      // Of the least of some calls: collections of garbage are in the others.
      const tries: number[] = []
      for (let n = 0; n < 2; n++) {
        const storage = await storeLines(lines)
        const began = cpuTime()
        await call(createSessions({ storage }))
        tries.push(cpuTime() - began)
      }
      found.set(name, Math.min(...tries))
    }
    return found
  }
  let steep: (readonly [call: string, factor: number])[] | undefined
  // On a busy machine one growth may be wrong; the square is there each time.
  for (let attempt = 0; attempt < 3 && steep?.length !== 0; attempt++) {
    const before = steep?.map(([name]) => name)
    const [few, many] = [await costs(800), await costs(3_200)]
    const growth = [...many].map(
      ([name, cost]) => [name, cost / Math.max((few.get(name) ?? 0) + CPU_TICK_MS, LEAST_MS)] as const,
    )
    steep = growth.filter(([name, factor]) => factor >= MOST_GROWTH && before?.includes(name) !== false)
  }
  expect(steep).toEqual([])
})

// Removing the first of a list moves the others, so fast that only very many show it.
test("the tips of very many branches that end beside each other", async () => {
  const made = (count: number): EntryLog => {
    const ends = times(count, (n) => (KINDS["branch summary"] as (n: number) => Fields)(n))
    return EntryLog.of(chain(user("first"), ...ends))
  }
  expect(await growthOf(24_000, made, (log) => tipsOfLog(log, 0))).toBeLessThan(MOST_GROWTH)
})
