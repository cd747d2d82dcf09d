/** What logs of one kind of entry cost: four times as many are about four times the work of each call. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "./repository.ts"
import type { Sessions } from "./repository-types.ts"
import { chain, linesOf, user } from "../../test/chain.ts"
import { cpuTime } from "../../test/cpu-time.ts"
import { HEADER } from "../../test/logs.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { textOf } from "../../test/transfer.ts"

type Fields = Record<string, unknown>

/** The entry at a place of the log, whose first entry is `e1`. */
const KINDS: Readonly<Record<string, EntryOf>> = {
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

type Call = (sessions: Sessions) => Promise<unknown>

const CALLS: Readonly<Record<string, Call>> = {
  list: (sessions) => sessions.list(),
  context: async (sessions) => (await sessions.open(STORED_ID)).context(),
  path: async (sessions) => (await sessions.open(STORED_ID)).path({ limit: 1_000 }),
  tree: async (sessions) => (await sessions.open(STORED_ID)).tree(),
  branches: async (sessions) => (await sessions.open(STORED_ID)).branches(),
  append: async (sessions) => (await sessions.open(STORED_ID)).title("t"),
  verify: (sessions) => sessions.verify(STORED_ID),
  fork: (sessions) => sessions.fork(STORED_ID),
  import: async (sessions) =>
    createSessions({ storage: createMemoryStorage() }).import(await textOf(sessions.export(STORED_ID))),
  copy: (sessions) => sessions.copy(STORED_ID, createMemoryStorage()),
}

/** Between what is linear, 4, and the square, 16. */
const MOST = 8
/** Milliseconds: what takes less is as good as nothing. */
const LEAST_MS = 4

test.each(Object.entries(KINDS))("entries of the kind %s", async (_, entryOf) => {
  expect(await grown(entryOf, CALLS, 800)).toEqual([])
})

// Removing the first of a list moves the others, so fast that only many show it.
test("verify of very many branches that end beside each other", async () => {
  const { verify } = CALLS as { readonly verify: Call }
  expect(await grown(KINDS["branch summary"] as EntryOf, { verify }, 24_000)).toEqual([])
})

type EntryOf = (n: number) => Fields

/** The calls that cost many times as much with four times as many entries. */
async function grown(entryOf: EntryOf, calls: typeof CALLS, least: number): Promise<readonly unknown[]> {
  const costs = async (count: number): Promise<Map<string, number>> => {
    const entries = Array.from({ length: count }, (_, n) => entryOf(n + 1))
    const lines = linesOf(chain(user("first"), ...entries), HEADER)
    const found = new Map<string, number>()
    for (const [name, call] of Object.entries(calls)) {
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
  const [few, many] = [await costs(least), await costs(4 * least)]
  const growth = [...many].map(([name, cost]) => [name, cost / Math.max(few.get(name) ?? 0, LEAST_MS)] as const)
  return growth.filter(([, times]) => times >= MOST)
}
