/** What exports have of a session whose tool calls were recorded, beside the same session without the records. */
import { automaticCompaction, compact } from "@sessions/core/compaction"
import { exportSession, forkSession } from "../index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { textOf } from "../../../test/transfer.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import { createSessions } from "../../session/repository.ts"
import type { Sessions } from "../../session/repository-types.ts"
import type { ExportOptions } from "../types.ts"

const POLICY: NewEntry = { type: "tool_policy", never: ["charge"], safe: [] }

function start(targetId: string, callId: string): NewEntry {
  const fields = { targetId, callId, call: 0, toolName: "charge", attempt: 1, key: "k", run: "r" }
  return { type: "tool_start", id: `${targetId}.0.1`, ...fields }
}

/** A session with entries of many types, and a fork of it. */
async function made(isRecorded: boolean): Promise<Sessions> {
  const sessions = createSessions({
    storage: createMemoryStorage(),
    now: () => Date.UTC(2026, 0, 1),
    blobs: { textUnits: 1_000 },
    compaction: automaticCompaction({ enabled: false, summarize: async () => ({ text: "## Goal\nA summary." }) }),
  })
  const records = (...entries: readonly NewEntry[]): readonly NewEntry[] => (isRecorded ? entries : [])
  const say = (id: string, role: "user" | "assistant", content: string): NewEntry => ({
    type: "message",
    id,
    message: { role, content },
  })
  const ask = (id: string, callId: string): NewEntry => ({
    type: "message",
    id,
    message: {
      role: "assistant",
      content: [{ type: "toolCall", id: callId, name: "charge", arguments: { amount: 5 } }],
    },
  })
  const session = await sessions.create({ id: "s", title: "Shop", systemPromptOverride: "Be brief." })
  await session.append([say("q", "user", "Charge ".repeat(400)), ...records(POLICY)])
  await session.append(ask("a", "c"))
  if (isRecorded) await session.append(start("a", "c"))
  const result = { role: "toolResult", toolCallId: "c", toolName: "charge", content: "charged" } as const
  await session.append([{ type: "message", id: "r", message: result }, say("f", "assistant", "Done.")])
  await session.label("a", "paid")
  await session.branch("r")
  await session.append([say("g", "user", "x ".repeat(600)), ...records(POLICY), ask("h", "e")])
  if (isRecorded) await session.append(start("h", "e"))
  await session.append({ type: "acme:note", text: "kept" })
  await compact(session, { keepRecentTokens: 10 })
  await session.append([say("i", "user", "And now?"), say("j", "assistant", "Nothing.")])
  await session.close()
  await (await forkSession(sessions, "s", { id: "fork", at: "h" })).close()
  return sessions
}

async function exportsOf(sessions: Sessions, o: ExportOptions): Promise<string> {
  const texts = [await textOf(exportSession(sessions, "s", o)), await textOf(exportSession(sessions, "fork", o))]
  return withNumberedIds(texts.join(""))
}

/** The ids that the session has made in the order in which they occur. */
function withNumberedIds(text: string): string {
  const ids = new Map<string, string>()
  return text.replaceAll(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, (id) => {
    if (!ids.has(id)) ids.set(id, `id${ids.size}`)
    return ids.get(id) as string
  })
}

/** The records of tools taken out, and with them the places of the others. */
async function withoutRecords(sessions: Sessions, o: ExportOptions): Promise<string> {
  const lines: string[] = []
  for (const id of ["s", "fork"]) {
    for (const line of (await textOf(exportSession(sessions, id, o))).trim().split("\n")) {
      const { seq: _, parentId: __, targetSeq: ___, firstKeptSeq: ____, ...rest } = JSON.parse(line)
      if (rest.type !== "tool_policy" && rest.type !== "tool_start") lines.push(JSON.stringify(rest))
    }
  }
  return withNumberedIds(lines.join("\n"))
}

test("a page for people has no record of a tool, and is the same without them, byte for byte", async () => {
  const o = { format: "markdown" } as const
  const [recorded, plain] = [await exportsOf(await made(true), o), await exportsOf(await made(false), o)]
  expect(recorded).toBe(plain)
  expect(recorded).toContain("charged")
})

test("lines of a session without records have nothing of them, and those beside records are the same", async () => {
  for (const o of [{}, { selfContained: true }]) {
    const [recorded, plain] = [await made(true), await made(false)]
    expect(await exportsOf(plain, o)).not.toMatch(/tool_policy|tool_start|"run"/)
    expect(await exportsOf(recorded, o)).toMatch(/tool_start/)
    expect(await withoutRecords(recorded, o)).toBe(await withoutRecords(plain, o))
  }
})
